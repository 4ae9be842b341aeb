namespace Voron.Testing;

/// <content>The faults of salvages.</content>
internal static partial class PlantedFault
{
    /// <summary>Entries of pages that nothing leads to go to their tree, wherever their keys are, and whether the pages are in use or not.</summary>
    public static readonly bool BelieveOrphans = Is(nameof(BelieveOrphans));

    /// <summary>Of two pages with the same key, the older one counts.</summary>
    public static readonly bool PreferOlder = Is(nameof(PreferOlder));

    /// <summary>A data file that is stamped as finished is believed to have all pages of the flush.</summary>
    public static readonly bool BelieveFinishedStamp = Is(nameof(BelieveFinishedStamp));

    /// <summary>Diffs are applied to pages of the data file that are newer than the journal.</summary>
    public static readonly bool MixNewerPages = Is(nameof(MixNewerPages));

    /// <summary>The value of an old leaf is what its place has now.</summary>
    public static readonly bool BelieveUsedPlaces = Is(nameof(BelieveUsedPlaces));
}
