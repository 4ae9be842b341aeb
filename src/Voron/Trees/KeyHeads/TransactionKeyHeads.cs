using Voron.Primitives;

namespace Voron.Trees.KeyHeads;

/// <summary>
/// The key heads used by one source of pages, a snapshot or the writer's pages. The trees opened over that source search with them.
/// </summary>
/// <remarks>Used by one thread at a time, like its source of pages.</remarks>
/// <param name="dataFile">The key heads of data-file pages; null to search only the pages themselves.</param>
/// <param name="branches">The key heads of branches as changed by the writer; null for a reader.</param>
internal sealed unsafe class TransactionKeyHeads(DataFileKeyHeads? dataFile, BranchKeyHeads? branches)
{
    // The number of searches that found the place for their page's key heads occupied by another page.
    private uint _misses;

    /// <summary>The key heads of data-file pages; null to search only the pages themselves.</summary>
    public DataFileKeyHeads? DataFile { get; } = dataFile;

    /// <summary>The key heads of branches as changed by the writer; null for a reader.</summary>
    public BranchKeyHeads? Branches { get; } = branches;

    /// <summary>Builds an entry for a branch that this source sees in the data file, unless another page keeps its place.</summary>
    /// <exception cref="CorruptionException">The branch claims more children than fit into a page, or none.</exception>
    public void AddBranch(PageNumber page, byte* branch) => DataFile?.AddBranch(page, branch, ref _misses);

    /// <summary>Like <see cref="AddBranch"/>, for a leaf.</summary>
    public void AddLeaf(PageNumber page, byte* leaf) => DataFile?.AddLeaf(page, leaf, ref _misses);
}
