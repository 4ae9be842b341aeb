namespace Voron.Format;

/// <summary>Checks that the values in a header, a record or a catalog entry are possible, whatever its checksum says.</summary>
internal static class StateStructure
{
    /// <summary>The highest transaction id: at a billion transactions per second, the ids last for more than a hundred years.</summary>
    public const long MaxTransactionId = long.MaxValue / 2;

    /// <summary>
    /// The limit of all other increasing numbers, such as those of records, checkpoints and file epochs. They can keep increasing for a while after
    /// the last possible transaction, and stay so far below the maximum that no addition to them overflows.
    /// </summary>
    private const long MaxNumber = MaxTransactionId + (1L << 40);

    /// <summary>
    /// The maximum number of levels of a tree. Four children per branch, the fewest that split pages have, give 4^31 leaves.
    /// </summary>
    public const int MaxDepth = 32;

    /// <summary>The smallest page size, used for the catalog, which has no values whose size the page size would limit.</summary>
    private const int LeastPageSize = 4096;

    /// <summary>The number of pages that every environment has: root, directory and map of its free space.</summary>
    private const int MinPages = 3;

    /// <summary>Returns true if an increasing number, or a length, can have reached this value.</summary>
    public static bool IsNumber(long number) => number is >= 0 and <= MaxNumber;

    public static bool IsPageSize(uint pageSize) => pageSize is 4096 or 8192 or 16384 or 32768 or 65536;

    /// <summary>Returns null if the state is possible, otherwise a description of the impossible value.</summary>
    public static string? FindFault(in EnvironmentState state)
    {
        if (state.TransactionId is < 0 or > MaxTransactionId)
            return $"the impossible transaction id {state.TransactionId}";
        if (state.PageCount is < MinPages or > uint.MaxValue)
            return $"an impossible count of {state.PageCount} pages";
        if (state.CommitTime < 0 || state.CommitTime > DateTime.MaxValue.Ticks)
            return $"the impossible commit time {state.CommitTime}";
        if (state.Catalog.Kind != TreeKind.Plain)
            return $"a catalog of the impossible kind {(int)state.Catalog.Kind}";
        return FindFault(state.Catalog, state.PageCount, LeastPageSize) is { } fault ? $"a catalog with {fault}" : null;
    }

    /// <summary>
    /// Returns null if the tree is possible in an environment with that many pages, otherwise a description of the impossible values.
    /// </summary>
    public static string? FindFault(in TreeHeader tree, long pageCount, int pageSize)
    {
        if (tree.Depth > MaxDepth || tree.RootPage < 0 || tree.RootPage >= pageCount || tree.RootPage == 0 != (tree.Depth == 0))
            return $"{tree.Depth} levels from root page {tree.RootPage} on, in an environment of {pageCount} pages";

        // More leaves than pages would make a scan of linked pages endless.
        if (tree.LeafPages < 0 || tree.BranchPages < 0 || tree.OverflowPages < 0 || tree.LeafPages > pageCount
            || tree.BranchPages > pageCount - tree.LeafPages || tree.OverflowPages > pageCount - tree.LeafPages - tree.BranchPages)
            return $"{tree.LeafPages} leaves, {tree.BranchPages} branches and {tree.OverflowPages} overflow pages, in an environment of {pageCount} pages";
        if (tree.Depth > 0 && (tree.LeafPages == 0 || tree.BranchPages < tree.Depth - 1))
            return $"{tree.Depth} levels, {tree.LeafPages} leaves and {tree.BranchPages} branches";
        return tree.EntryCount < 0 ? $"{tree.EntryCount} entries" : FindKindFault(tree, pageCount, pageSize);
    }

    // Checks the fields that depend on the kind of the tree.
    private static string? FindKindFault(in TreeHeader tree, long pageCount, int pageSize)
    {
        if (tree.Flags != 0 && ((tree.Flags & ~(TreeHeader.RecordedFlag | TreeHeader.CompressedFlag)) != 0 || tree.Kind != TreeKind.Plain))
            return $"the impossible flags {tree.Flags:X2}";
        if (tree.NestedPages < 0 || tree.NestedPages > pageCount - tree.LeafPages - tree.BranchPages - tree.OverflowPages)
            return $"{tree.NestedPages} pages of sets, in an environment of {pageCount} pages";
        var isPossible = tree.Kind switch
        {
            TreeKind.Plain => tree.NestedPages == 0 && tree.NestedValues == 0,
            TreeKind.ValueSets => tree.NestedPages == 0 && tree.NestedValues >= tree.EntryCount,
            TreeKind.IdSets => tree.NestedValues >= tree.EntryCount,
            TreeKind.FixedSize => tree.NestedPages == 0 && tree.OverflowPages == 0 && tree.NestedValues >= 0
                && tree.NestedValues <= ArrayLayout.MaxValueSize(pageSize),
            _ => false,
        };
        return isPossible ? null : $"the impossible kind {(int)tree.Kind}, with {tree.NestedPages} pages of sets and {tree.NestedValues} values";
    }

    /// <summary>Returns null if replay can start from this header, otherwise a description of the impossible value.</summary>
    public static string? FindFault(in CheckpointHeader header)
    {
        if (!IsPageSize(header.PageSize))
            return $"an impossible page size of {header.PageSize} bytes";
        if (!IsNumber(header.CheckpointNumber) || header.CheckpointNumber == 0)
            return $"the impossible checkpoint number {header.CheckpointNumber}";
        if (FindFault(header.State) is { } fault)
            return fault;
        if (header.State.PageCount > new SectionMapLayout((int)header.PageSize).MaxPageCount)
            return $"an impossible count of {header.State.PageCount} pages";
        var start = header.ReplayStart;
        if (!IsNumber(start.Epoch) || !IsNumber(start.Sequence) || !IsNumber(start.Offset) || start.Offset % JournalFormat.Block != 0
            || (start.Epoch != 0 && start.Offset < JournalFormat.FirstRecordOffset))
            return $"an impossible replay start: record {start.Sequence} at offset {start.Offset} of epoch {start.Epoch}";
        return IsNumber(header.JournalSnapshotNumber) && IsNumber(header.JournalSnapshotTransactionId) && IsNumber(header.JournalSnapshotLength)
            && header.JournalSnapshotLength % JournalFormat.Block == 0
            ? null
            : $"an impossible journal snapshot: number {header.JournalSnapshotNumber} of {header.JournalSnapshotLength} bytes " +
                $"as of transaction {header.JournalSnapshotTransactionId}";
    }
}
