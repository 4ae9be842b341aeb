namespace Voron.Primitives;

/// <summary>
/// The categories of log events. The id of an event determines its category, so that no event can appear under two of them. Each category has a
/// hundred ids. The table of events is in <c>docs/log-events.md</c>.
/// </summary>
internal static class LogCategories
{
    private const int FirstId = 100;
    private const int IdsPerCategory = 100;

    /// <summary>The names, in the order of their ids.</summary>
    public static readonly string[] Names =
    [
        "Voron", "Voron.Recovery", "Voron.Journal", "Voron.Flushing", "Voron.Transactions", "Voron.Verification", "Voron.Disk", "Voron.Backup",
        "Voron.Compaction", "Voron.Dropping", "Voron.Feeds", "Voron.Dictionaries",
        "Voron.Tables",
    ];

    /// <summary>Returns the index of the category of an event; ids that belong to no category count as the first one's.</summary>
    public static int IndexOf(int eventId)
    {
        var index = (eventId - FirstId) / IdsPerCategory;
        return eventId >= FirstId && index < Names.Length ? index : 0;
    }
}
