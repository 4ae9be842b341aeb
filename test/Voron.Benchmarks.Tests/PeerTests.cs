using System.Text.Json;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Workloads;
using Voron.Simulation.Harness;

namespace Voron.Benchmarks.Tests;

/// <summary>What counts as a peer, and what a comparison says about those that do not.</summary>
public sealed class PeerTests
{
    private const string Durability = "Durability, counted";
    private const string Speed = "Speed (medians; microseconds of a transaction)";
    private const string NotDurable = "Speed of engines that do not make each commit durable";

    [Fact]
    public void Only_calls_that_make_the_store_durable_count()
    {
        var trace = new SyncTrace("/link/area-1/engine-counted");
        string[] lines =
        [
            "7 openat(AT_FDCWD</>, \"/link/area-1/engine-counted/a\", O_RDWR|O_CREAT|O_DSYNC, 0644) = 5</data/area-1/engine-counted/a>",
            "7 pwrite64(5</data/area-1/engine-counted/a>, \"\"..., 4096, 0) = 4096",
            "7 openat(AT_FDCWD</>, \"b\", O_RDWR <unfinished ...>",
            "8 fdatasync(5</data/area-1/engine-counted/a> <unfinished ...>",
            "7 <... openat resumed>) = 6</data/area-1/engine-counted/b>",
            "7 write(6</data/area-1/engine-counted/b>, \"\"..., 10) = 10",
            "8 <... fdatasync resumed>)        = 0",
            "7 fsync(6</data/area-1/engine-counted/b>) = 0",
            "7 fsync(6</data/area-1/engine-counted/b>) = -1 EIO (Input/output error)",
            "7 fsync(9</data/area-1/engine-counted.warm-up/b>) = 0",
            "7 fsync(6</data/area-1/engine-counted/b>) = ?",
            "7 mmap(NULL, 8192, PROT_READ, MAP_SHARED, 6</data/area-1/engine-counted/b>, 0) = ?",
            "7 pwritev2(6</data/area-1/engine-counted/b>, [...], 1, 0, RWF_DSYNC) = 2",
            "7 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_SHARED, 6</data/area-1/engine-counted/b>, 0) = 0x7f0000001000",
            "7 msync(0x7f0000002000, 4096, MS_SYNC) = 0",
            "7 msync(0x7f0000002000, 4096, MS_ASYNC) = 0",
            "7 msync(0x7f0000003000, 4096, MS_SYNC) = 0",
            "7 openat(AT_FDCWD</>, \"c\", O_RDWR|O_CLOEXEC) = 5</data/area-1/engine-counted/c>",
            "7 pwrite64(5</data/area-1/engine-counted/c>, \"\"..., 4096, 0) = 4096",
            "7 --- SIGCHLD {si_signo=SIGCHLD} ---",
        ];
        foreach (var line in lines)
            trace.Add(line);
        trace.Syncs.Should().Be(3, "of fdatasync, fsync and msync, one each succeeded on the store");
        trace.WriteThroughWrites.Should().Be(2, "the descriptor 5 is another file later");
    }

    [Theory]
    [InlineData(EngineCatalog.Lmdb, 200, 0, true)]
    [InlineData(EngineCatalog.Lmdb, 10, 190, true)]
    [InlineData(EngineCatalog.Lmdb, 10, 189, false)]
    [InlineData(EngineCatalog.VoronPipelined, 1, 66, true)]
    [InlineData(EngineCatalog.VoronPipelined, 1, 65, false)]
    public void Syncs_and_write_through_writes_must_be_as_many_as_the_commits_that_cannot_share_one(
        string engine, long syncs, long writes, bool expected)
    {
        new SyncCount(engine, 200, syncs, writes).IsDurable.Should().Be(expected);
        SyncCount.None(engine, "reason").IsDurable.Should().BeNull();
    }

    [Theory]
    [InlineData(EngineCatalog.Voron, true)]
    [InlineData(EngineCatalog.VoronPipelined, true)]
    [InlineData(EngineCatalog.LiteDb, false)]
    public async Task Commits_of_a_traced_process_are_counted(string engine, bool expected)
    {
        Assert.SkipUnless(SyncCounter.IsInstalled, "strace is not installed");
        using var directory = new TestDirectory();
        var store = Path.Combine(directory.Path, "store");
        var file = Path.Combine(directory.Path, "trace");
        var start = ChildProgram.Of(typeof(SyncCounter).Assembly);
        string[] arguments = ["run-one", "--engine", engine, "--workload", WorkloadCatalog.FirstSinglePut.Name, "--directory", store];
        foreach (var argument in (string[])[.. arguments, "--items", "300", "--operations", "300"])
            start.ArgumentList.Add(argument);
        SyncCounter.Trace(start, file);
        using var process = System.Diagnostics.Process.Start(start)!;
        var errors = process.StandardError.ReadToEndAsync(TestContext.Current.CancellationToken);
        var output = await process.StandardOutput.ReadToEndAsync(TestContext.Current.CancellationToken);
        await process.WaitForExitAsync(TestContext.Current.CancellationToken);
        process.ExitCode.Should().Be(0, await errors);

        // Far more than the opening and the closing sync.
        var commits = JsonSerializer.Deserialize<RunResult>(output, ResultFile.Json)!.Transactions;
        commits.Should().BeGreaterThan(100);
        var trace = new SyncTrace(store);
        foreach (var line in File.ReadLines(file))
            trace.Add(line);
        new SyncCount(engine, commits, trace.Syncs, trace.WriteThroughWrites).IsDurable.Should().Be(
            expected, $"{trace.Syncs} syncs, {trace.WriteThroughWrites} writes");
    }

    [Fact]
    public void An_engine_that_is_not_durable_is_no_peer()
    {
        var (before, after) = (Compare(rocksDbSyncs: 200), Compare(rocksDbSyncs: 3));
        Rows(before, Speed).Should().Contain(row => row[1] == EngineCatalog.RocksDb);
        Rows(after, Speed).Should().NotContain(row => row[1] == EngineCatalog.RocksDb);
        Rows(before, NotDurable).Should().BeEmpty();
        Rows(after, NotDurable).Should().OnlyContain(row => row[1] == "rocksdb (not durable)").And.HaveCount(1);
        Rows(before, Durability).Single(row => row[0] == EngineCatalog.RocksDb)[4].Should().StartWith("enough");
        Rows(after, Durability).Single(row => row[0] == EngineCatalog.RocksDb)[4].Should().Contain("not durable");
        Rows(after, Durability).Single(row => row[0] == EngineCatalog.Sqlite)[4].Should().Be("not counted: no strace");

        // Against the one peer that is left.
        var goal = WorkloadCatalog.FirstRandomInsert.Title;
        Rows(before, "Goals").Single(row => row[0] == goal && row[1].StartsWith("to the best", StringComparison.Ordinal))[2].Should().Be("0.5x");
        Rows(after, "Goals").Single(row => row[0] == goal && row[1].StartsWith("to the best", StringComparison.Ordinal))[2].Should().Be("2x");
        Rows(after, "Goals").Should().Contain(row => row[1].Contains("RocksDB") && row[3] == "not measured");
    }

    [Fact]
    public void The_table_of_speed_has_the_latencies_of_transactions_and_says_what_an_engine_leaves_out()
    {
        var tables = Compare(rocksDbSyncs: 200);
        var speed = tables.Single(table => table.Title == Speed);
        speed.Columns.Should().ContainInOrder("operations/s", "p50", "p99", "p99.9");
        var row = speed.Rows.Single(row => row[1] == EngineCatalog.RocksDb);
        row[Array.IndexOf(speed.Columns, "p99")].Should().Be("30.0");
        Rows(Compare(200, WorkloadCatalog.Write64M), Speed).Single(row => row[1] == EngineCatalog.LiteDb)[^1].Should().Contain("16 MiB");
    }

    [Fact]
    public void A_picture_has_a_bar_for_each_rate_and_marks_engines_without_durable_commits()
    {
        var svg = Report(rocksDbSyncs: 3, WorkloadCatalog.FirstRandomInsert).CreateChart().ToSvg();
        var bars = svg.Descendants().Where(element => element.Name.LocalName == "rect").ToList();
        bars.Select(bar => bar.Attribute("class")!.Value).Should().Equal("ours", "peer", "lazy");
        bars.Select(bar => (double)bar.Attribute("width")!).Should().Equal(75, 37.5, 150);
        svg.Root!.Value.Should().Contain("prefers-color-scheme: dark").And.Contain("not measured").And.Contain("0.50x");
    }

    [Fact]
    public void Native_libraries_are_those_of_this_platform()
    {
        var native = Directory.GetDirectories(Path.Combine(AppContext.BaseDirectory, "runtimes"), "native", SearchOption.AllDirectories);
        native.Should().ContainSingle();
        Directory.GetFiles(native[0]).Select(Path.GetFileName).Should().Contain(name => name!.Contains("rocksdb"));
    }

    private static IReadOnlyList<ReportTable> Compare(long rocksDbSyncs, WorkloadDefinition? workload = null) =>
        Report(rocksDbSyncs, workload ?? WorkloadCatalog.FirstRandomInsert).Create().Tables;

    /// <summary>RocksDB is twice as fast as Voron, which is twice as fast as SQLite; LiteDB was not measured.</summary>
    private static ComparisonReport Report(long rocksDbSyncs, WorkloadDefinition workload)
    {
        string[] names = [EngineCatalog.Voron, EngineCatalog.Sqlite, EngineCatalog.RocksDb, EngineCatalog.LiteDb];
        var comparison = new Comparison(
            [.. names.Select(EngineCatalog.Find)], [new Comparison.Step(workload, 200, 200, IsReported: true)], Rounds: 1);
        RunResult Run(string engine, long operations) => MeasurementTests.Run(workload, engine, operations) with
        {
            TransactionLatency = new LatencySummary(10, 10, 30, 40, 50),
        };
        return new ComparisonReport(
            comparison,
            [Run(EngineCatalog.Voron, 200), Run(EngineCatalog.Sqlite, 100), Run(EngineCatalog.RocksDb, 400)],
            [new SyncCount(EngineCatalog.RocksDb, 200, rocksDbSyncs, 0), SyncCount.None(EngineCatalog.Sqlite, "no strace")]);
    }

    private static IReadOnlyList<string[]> Rows(IReadOnlyList<ReportTable> tables, string title) =>
        tables.Single(table => table.Title == title).Rows;
}
