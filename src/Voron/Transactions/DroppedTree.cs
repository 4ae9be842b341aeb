namespace Voron.Transactions;

/// <summary>A tree that was dropped, or whose pages were freed.</summary>
internal readonly record struct DroppedTree
{
    /// <summary>False if there is no such tree.</summary>
    public bool IsFound { get; init; }

    /// <summary>True if pages are left, under an internal name.</summary>
    public bool HasPages { get; init; }

    public uint Id { get; init; }

    /// <summary>The id of a value-set tree's companion that has pages left; otherwise null.</summary>
    public uint? LargeSetsId { get; init; }
}
