using Voron.Primitives;

namespace Voron.Trees.KeyHeads;

/// <summary>
/// The key heads that one source of pages uses, a snapshot or the writer's pages. The trees that are open over that source search
/// with them.
/// </summary>
/// <remarks>Used by one thread at a time, like its source of pages.</remarks>
/// <param name="dataFile">The key heads beside data-file pages; null where only the pages themselves are to be read.</param>
/// <param name="branches">The key heads beside the branches, as the writer has changed them; null for a reader.</param>
internal sealed unsafe class TransactionKeyHeads(DataFileKeyHeads? dataFile, BranchKeyHeads? branches)
{
    // The number of searches that found the place of their page's key heads taken by another page.
    private uint _misses;

    /// <summary>The key heads beside data-file pages; null where only the pages themselves are to be read.</summary>
    public DataFileKeyHeads? DataFile { get; } = dataFile;

    /// <summary>The key heads beside the branches, as the writer has changed them; null for a reader.</summary>
    public BranchKeyHeads? Branches { get; } = branches;

    /// <summary>Builds an entry for a branch that this source sees in the data file, unless its place stays with another page.</summary>
    /// <exception cref="CorruptionException">The branch claims to have more children than there is room for, or none.</exception>
    public void AddBranch(PageNumber page, byte* branch) => DataFile?.AddBranch(page, branch, ref _misses);

    /// <summary>Does the same as <see cref="AddBranch"/> for a leaf.</summary>
    public void AddLeaf(PageNumber page, byte* leaf) => DataFile?.AddLeaf(page, leaf, ref _misses);
}
