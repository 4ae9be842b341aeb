namespace Voron.Transactions;

/// <summary>A tree that was dropped, or of which pages were freed.</summary>
internal readonly record struct DroppedTree
{
    /// <summary>False if there is no such tree.</summary>
    public bool IsFound { get; init; }

    /// <summary>True if pages are left, under a name of the engine's own.</summary>
    public bool HasPages { get; init; }

    public uint Id { get; init; }

    /// <summary>The id of the companion of a tree of value sets, if that one has pages left; otherwise null.</summary>
    public uint? LargeSetsId { get; init; }
}
