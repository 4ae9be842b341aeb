namespace Voron.Format;

/// <summary>Whether what a header, a record or a catalog entry says can be, whatever its checksum says.</summary>
internal static class StateStructure
{
    /// <summary>The highest transaction id: at a thousand million transactions a second they last for more than a hundred years.</summary>
    public const long MaxTransactionId = long.MaxValue / 2;

    /// <summary>
    /// What else only rises, records, checkpoints, lives of files, goes on for a while when there can be no more transactions, and
    /// stays so far from its end that nothing which is added to it overflows.
    /// </summary>
    private const long MaxNumber = MaxTransactionId + (1L << 40);

    /// <summary>Levels a tree can have. Four children a branch, the fewest that split pages have, give 4^31 leaves.</summary>
    public const int MaxDepth = 32;

    /// <summary>Pages that are there in any environment: root, directory and map of its free space.</summary>
    private const int MinPages = 3;

    /// <summary>Whether a number that only rises, or a length, can have got there.</summary>
    public static bool IsNumber(long number) => number is >= 0 and <= MaxNumber;

    public static bool IsPageSize(uint pageSize) => pageSize is 4096 or 8192 or 16384 or 32768 or 65536;

    /// <summary>Null when the state can be, else what cannot.</summary>
    public static string? FindFault(in EnvironmentState state)
    {
        if (state.TransactionId is < 0 or > MaxTransactionId)
            return $"transaction id {state.TransactionId}";
        if (state.PageCount is < MinPages or > uint.MaxValue)
            return $"a count of {state.PageCount} pages";
        return FindFault(state.Catalog, state.PageCount) is { } fault ? $"a catalog with {fault}" : null;
    }

    /// <summary>Null when the tree can be in an environment with so many pages, else what cannot.</summary>
    public static string? FindFault(in TreeHeader tree, long pageCount)
    {
        if (tree.Depth > MaxDepth || tree.RootPage < 0 || tree.RootPage >= pageCount || tree.RootPage == 0 != (tree.Depth == 0))
            return $"{tree.Depth} levels from page {tree.RootPage} on, of {pageCount}";

        // More leaves than pages would make a scan of linked pages endless.
        if (tree.LeafPages < 0 || tree.BranchPages < 0 || tree.OverflowPages < 0 || tree.LeafPages > pageCount
            || tree.BranchPages > pageCount - tree.LeafPages || tree.OverflowPages > pageCount - tree.LeafPages - tree.BranchPages)
            return $"{tree.LeafPages} leaves, {tree.BranchPages} branches and {tree.OverflowPages} other pages, of {pageCount}";
        if (tree.Depth > 0 && (tree.LeafPages == 0 || tree.BranchPages < tree.Depth - 1))
            return $"{tree.Depth} levels, {tree.LeafPages} leaves and {tree.BranchPages} branches";
        return tree.EntryCount < 0 ? $"{tree.EntryCount} entries" : null;
    }

    /// <summary>Null when replay can start there, else what cannot be.</summary>
    public static string? FindFault(in CheckpointHeader header)
    {
        if (!IsPageSize(header.PageSize))
            return $"pages of {header.PageSize} bytes";
        if (!IsNumber(header.CheckpointNumber) || header.CheckpointNumber == 0)
            return $"checkpoint number {header.CheckpointNumber}";
        if (FindFault(header.State) is { } fault)
            return fault;
        if (header.State.PageCount > new SectionMapLayout((int)header.PageSize).MaxPageCount)
            return $"a count of {header.State.PageCount} pages";
        var start = header.ReplayStart;
        if (!IsNumber(start.Epoch) || !IsNumber(start.Sequence) || !IsNumber(start.Offset) || start.Offset % JournalFormat.Block != 0
            || (start.Epoch != 0 && start.Offset < JournalFormat.FirstRecordOffset))
            return $"a journal from record {start.Sequence} on, at {start.Offset} of life {start.Epoch}";
        return IsNumber(header.JournalSnapshotNumber) && IsNumber(header.JournalSnapshotTransactionId) && IsNumber(header.JournalSnapshotLength)
            && header.JournalSnapshotLength % JournalFormat.Block == 0
            ? null
            : $"rewrite file {header.JournalSnapshotNumber} of {header.JournalSnapshotLength} bytes as of transaction {header.JournalSnapshotTransactionId}";
    }
}
