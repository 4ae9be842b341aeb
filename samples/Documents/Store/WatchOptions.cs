using Voron.Feeds;

namespace Voron.Documents;

/// <summary>Which changes a watch follows. The default is all from now on.</summary>
public sealed record WatchOptions
{
    /// <summary>The position behind which to begin: that of a change that the caller has had.</summary>
    public ChangePosition? After { get; init; }

    /// <summary>The name under which the collection keeps the position of the watch: the next watch of that name continues there.</summary>
    public string? Consumer { get; init; }

    /// <summary>True to begin with the oldest change that is kept, where no position says otherwise.</summary>
    public bool FromStart { get; init; }

    /// <summary>A query whose condition a document must meet, before or after the change; null for all. Its order and number are ignored.</summary>
    public Query? Query { get; init; }
}
