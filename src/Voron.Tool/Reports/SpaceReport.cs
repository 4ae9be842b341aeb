using Voron.Maintenance;
using Voron.Paging;
using Voron.Tables;
using Voron.Transactions;

namespace Voron.Tool.Reports;

/// <summary>A tree and its space.</summary>
/// <param name="Name">Its name; of a tree of a table, what it is.</param>
/// <param name="Size">Its size.</param>
/// <param name="LeafFill">How full its leaves are on average, with the id pages of its sets, from 0 to 1; null if the sample has none of it.</param>
internal sealed record TreeSpace(string Name, TreeStatistics Size, double? LeafFill)
{
    /// <summary>True for one of the engine's own, such as those of tables.</summary>
    public bool IsSystem { get; init; }

    public long Pages => Size.LeafPages + Size.BranchPages + Size.OverflowPages + Size.NestedPages;
}

/// <summary>Where the space of an environment goes, as of one snapshot.</summary>
internal sealed record SpaceReport
{
    private const int SampledPages = 4096;

    public required string Path { get; init; }

    public required DateTimeOffset Time { get; init; }

    public required string EnvironmentId { get; init; }

    public required int FormatVersion { get; init; }

    public required int PageSize { get; init; }

    public required long TransactionId { get; init; }

    public required long CheckpointTransactionId { get; init; }

    /// <summary>The time of the newest transaction; null if it is not recorded.</summary>
    public required DateTimeOffset? CommitTime { get; init; }

    public required long PageCount { get; init; }

    public required long UsedPages { get; init; }

    public required long ReplayedRecords { get; init; }

    /// <summary>The trees, the largest first.</summary>
    public required IReadOnlyList<TreeSpace> Trees { get; init; }

    /// <summary>The number of tables, whose trees are among <see cref="Trees"/>.</summary>
    public int Tables { get; init; }

    /// <summary>The number of their rows.</summary>
    public long Rows { get; init; }

    /// <summary>The dropped trees whose pages are not all free.</summary>
    public IReadOnlyList<DroppedTreeStatistics> DroppedTrees { get; init; } = [];

    public required IReadOnlyList<SpaceCell> Cells { get; init; }

    public required IReadOnlyList<SampledPage> Sample { get; init; }

    public required IReadOnlyList<FlushRecord> Flushes { get; init; }

    /// <summary>The files of the directory, by name.</summary>
    public required IReadOnlyList<(string Name, long Bytes)> Files { get; init; }

    public long DataFileBytes => Files.Where(file => file.Name == DataFile.FileName).Sum(file => file.Bytes);

    /// <summary>Collects the report of an environment that is open for reading.</summary>
    /// <exception cref="CorruptionException">The environment is damaged.</exception>
    public static SpaceReport Collect(StorageEnvironment environment, CancellationToken stop)
    {
        var engine = environment.Internals.Engine;
        using var snapshot = new EngineSnapshot(engine);
        using var reading = environment.BeginRead();
        var state = snapshot.Snapshot.State;
        var cells = SpaceMap.Read(engine, snapshot.Snapshot, stop);
        var sample = PageSample.Take(engine, snapshot.Snapshot, SampledPages, stop);
        var fills = sample.Where(page => page.IsLeaf && page.TreeMark != 0).ToLookup(page => page.TreeMark, page => page.UsedFraction);
        var trees = new List<TreeSpace>();
        foreach (var tree in TreeSizes.Of(reading))
        {
            var fill = fills[tree.Header.TreeId + 1];
            trees.Add(new TreeSpace(tree.Name, tree.Size, fill.Any() ? fill.Average() : null) { IsSystem = tree.IsSystem });
        }

        var tables = reading.GetTables();
        return new SpaceReport
        {
            Path = environment.Path,
            Time = DateTimeOffset.Now,
            EnvironmentId = engine.EnvironmentId.ToString(),
            FormatVersion = (int)engine.Format.Version,
            PageSize = engine.PageSize,
            TransactionId = state.TransactionId,
            CheckpointTransactionId = environment.GetStatistics().CheckpointTransactionId,
            CommitTime = Running.RunningFacts.Time(state.CommitTime),
            PageCount = state.PageCount,
            UsedPages = cells.Sum(cell => cell.UsedPages),
            ReplayedRecords = environment.Recovery.ReplayedRecords,
            Trees = [.. trees.OrderByDescending(tree => tree.Pages).ThenBy(tree => tree.Name, StringComparer.Ordinal)],
            Tables = tables.Count,
            Rows = tables.Sum(table => table.Rows),
            DroppedTrees = reading.GetDroppedTrees(),
            Cells = cells,
            Sample = sample,
            Flushes = FlushHistory.Read(engine.Disk, stop),
            Files = FilesOf(environment.Path),
        };
    }

    private static List<(string Name, long Bytes)> FilesOf(string directory)
    {
        var files = new DirectoryInfo(directory).EnumerateFiles().Select(file => (file.Name, file.Length));
        return [.. files.OrderBy(file => file.Name, StringComparer.Ordinal)];
    }
}
