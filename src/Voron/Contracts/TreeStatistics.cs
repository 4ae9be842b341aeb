namespace Voron;

/// <summary>The size of a tree.</summary>
/// <param name="Entries">The number of entries.</param>
/// <param name="Depth">The number of levels from the root to the leaves; 0 for an empty tree.</param>
/// <param name="LeafPages">The number of leaf pages, which contain keys and values.</param>
/// <param name="BranchPages">The number of branch pages, which contain separators.</param>
/// <param name="OverflowPages">The number of pages of values too long for a leaf.</param>
public readonly record struct TreeStatistics(long Entries, int Depth, long LeafPages, long BranchPages, long OverflowPages)
{
    /// <summary>The number of pages of id sets or value sets too large for a leaf.</summary>
    public long NestedPages { get; init; }
}

/// <summary>The pages that a dropped tree still occupies: see <see cref="StorageEnvironment.DropTreeAsync"/>.</summary>
/// <param name="TreeId">The id of the tree, which no other tree of the environment has or had.</param>
/// <param name="Pages">The number of its pages not yet freed, including pages of values outside leaves.</param>
public readonly record struct DroppedTreeStatistics(long TreeId, long Pages);
