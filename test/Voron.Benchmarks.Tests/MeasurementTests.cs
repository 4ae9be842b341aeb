using System.Reflection;
using BenchmarkDotNet.Attributes;
using Voron.Benchmarks.Commands;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Suites;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Tests;

public sealed class MeasurementTests
{
    [Fact]
    public void A_histogram_knows_its_percentiles()
    {
        var histogram = new LatencyHistogram();
        for (var i = 1; i <= 10_000; i++)
            histogram.Record(i * 1_000L);
        var summary = histogram.Summarise()!;
        summary.P50Microseconds.Should().BeApproximately(5_000, 100);
        summary.P99Microseconds.Should().BeApproximately(9_900, 200);
        summary.P999Microseconds.Should().BeApproximately(9_990, 200);
        summary.MaxMicroseconds.Should().Be(10_000);
    }

    [Fact]
    public void Histograms_of_threads_add_up()
    {
        var first = new LatencyHistogram();
        var second = new LatencyHistogram();
        first.Record(1_000);
        second.Record(3_000);
        first.Add(second);
        first.Count.Should().Be(2);
        first.Summarise()!.MaxMicroseconds.Should().Be(3);
        new LatencyHistogram().Summarise().Should().BeNull();
    }

    [Fact]
    public void A_histogram_knows_the_mean_of_its_durations()
    {
        var histogram = new LatencyHistogram();
        foreach (var nanoseconds in (long[])[1_000, 2_000, 9_000])
            histogram.Record(nanoseconds);
        histogram.Summarise()!.MeanMicroseconds.Should().BeApproximately(4, 1e-9);
        var twice = new LatencyHistogram();
        twice.Add(histogram);
        twice.Record(12_000);
        twice.Summarise()!.MeanMicroseconds.Should().BeApproximately(6, 1e-9);
    }

    [Fact]
    public void The_raw_device_is_probed_with_and_without_computing_between_writes()
    {
        using var directory = new TestDirectory();
        var result = PacedProbe.Run(directory.Path, recordBytes: 5_000, computingNanoseconds: 2_000_000);
        if (result is null)
            return; // no unbuffered writes here
        result.RecordBytes.Should().Be(8_192);
        result.ComputingMicroseconds.Should().Be(2_000);
        result.Tight.MeanMicroseconds.Should().BePositive();
        result.Paced.MeanMicroseconds.Should().BePositive();
        Directory.EnumerateFiles(directory.Path).Should().BeEmpty();
    }

    [Fact]
    public void A_computation_lasts_for_its_time()
    {
        var computation = new Computation();
        var started = System.Diagnostics.Stopwatch.GetTimestamp();
        computation.Run(nanoseconds: 3_000_000);
        System.Diagnostics.Stopwatch.GetElapsedTime(started).Should().BeGreaterThanOrEqualTo(TimeSpan.FromMilliseconds(3));
        computation.Run(nanoseconds: 0);
    }

    [Theory]
    [InlineData(0.5, 100, 2.5)]
    [InlineData(0.5, 1, 0.5)]
    [InlineData(null, 100, 5)]
    [InlineData(1.25, 100, 0)]
    public void An_engine_computes_outside_the_device_and_at_most_for_its_processor_time(double? inDevice, double cpuSeconds, double expected)
    {
        var run = Run(WorkloadCatalog.RandomInsert, EngineCatalog.Voron, operations: 200) with
        {
            DeviceShare = inDevice,
            Usage = new ProcessUsage(WallSeconds: 10, UserSeconds: cpuSeconds / 2, SystemSeconds: cpuSeconds / 2, AllocatedBytes: 0),
        };
        run.ComputingSecondsPerCommit.Should().BeApproximately(expected, 1e-9);
    }

    [Fact]
    public void A_process_that_has_not_committed_after_400_ms_has_an_early_rate_of_zero()
    {
        var first = new FirstSecond(openingTimestamp: 0);
        var second = System.Diagnostics.Stopwatch.Frequency;
        first.Add(second / 2, second / 2, second * 6 / 10, operations: 1);
        first.Summarise(openingNanoseconds: 1).EarlyShare.Should().BeNull("there is no steady rate either");
        first.Add(second * 2, second * 2, second * 21 / 10, operations: 1);
        first.Summarise(openingNanoseconds: 1).EarlyShare.Should().Be(0);
        first.Add(second * 2 / 10, second * 2 / 10, second * 3 / 10, operations: 1);
        first.Summarise(openingNanoseconds: 1).EarlyShare.Should().BeApproximately(0.5, 0.01);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_first_second_is_over_after_its_last_slice_only_if_it_stops_there(bool stops)
    {
        var first = new FirstSecond(openingTimestamp: 0, stops);
        var second = System.Diagnostics.Stopwatch.Frequency;
        first.Add(second, second, second * 2, operations: 1);
        first.IsOver.Should().BeFalse();
        first.Add(second * 4, second * 4, second * 5, operations: 1);
        first.IsOver.Should().Be(stops);
    }

    [Fact]
    public void Shares_of_the_raw_device_are_those_of_both_probes()
    {
        LatencySummary Latency(double mean, double median) => new(mean, median, 0, 0, 0);
        var run = Run(WorkloadCatalog.RandomInsert, EngineCatalog.Voron, operations: 200) with
        {
            PacedProbe = new PacedProbeResult(4_096, 0, Latency(1_000_000, 0), Latency(2_000_000, 3_000_000)),
            TransactionLatency = Latency(0, 4_000_000),
        };
        run.ShareOfTightLoop.Should().BeApproximately(0.2, 1e-9);
        run.ShareOfRawDevice.Should().BeApproximately(0.4, 1e-9);
        run.ShareByMedians.Should().BeApproximately(0.75, 1e-9);
    }

    [Fact]
    public void A_comparison_of_all_workloads_judges_every_goal_and_fills_every_table()
    {
        var lmdb = EngineCatalog.Find(EngineCatalog.Lmdb);
        var comparison = new Comparison([EngineCatalog.Find(EngineCatalog.Voron)], ComparisonPlan.Select([], 1), Rounds: 1);
        var results = comparison.Steps.SelectMany(step => (RunResult[])
            [Run(step.Workload, EngineCatalog.Voron, 200), Run(step.Workload, lmdb.Name, 100)]).ToList();
        var tables = new ComparisonReport(comparison, results, counts: []).Create().Tables;
        tables.Should().OnlyContain(table => table.Rows.All(row => row.Length == table.Columns.Length));
        var goals = tables.Single(table => table.Title == "Goals").Rows.Select(row => $"{row[0]}: {row[1]}").ToList();
        goals.Should().OnlyHaveUniqueItems().And.Contain(
        [
            "sequential insert: to RocksDB at least 2x",
            "sequential insert: p99 of transactions, to their median at most 4x",
            "random insert: device bytes a user byte at most 5",
            "random update beside a reader: to RocksDB at least 2x",
            "one put a commit, on the store: to RocksDB at least 1.2x",
            "one put a commit, on the store: p99.9 of transactions, to RocksDB's at most 1x",
            "one put a commit, first second: to the best peer at least 1x",
            "one put a commit, first second: p99 of transactions, to RocksDB's at most 1x",
            "one put a commit, first second: first transaction, ms at most 5",
            "durable puts, 64 callers: thousand puts a second at least 600",
            "write values of 16 KiB: of its durable writes as large as a commit, beside computing, at least 80%",
        ]);
    }

    [Fact]
    public void Differences_of_device_counters_count_both()
    {
        (new DeviceWrites(5_000, 9) - new DeviceWrites(1_000, 2)).Should().Be(new DeviceWrites(4_000, 7));
    }

    [Fact]
    public void A_table_in_markdown_keeps_its_columns()
    {
        var text = new System.Text.StringBuilder();
        new ReportTable("T", TextColumns: 1, ["a", "b"], [["x|y", "1"]]).AppendMarkdown(text);
        text.ToString().ReplaceLineEndings("\n").Should().Be("\n## T\n\n| a | b |\n|---|---:|\n| x\\|y | 1 |\n");
    }

    [Fact]
    public void A_report_names_its_command_its_date_and_its_machine()
    {
        var machine = new MachineSummary("an OS", "a runtime", "a processor", 2, 25_280_000_000, "ext4", "vda");
        var command = CommandOptions.CommandLine(["compare", "--directory", "/a/b", "--rounds", "3", "--svg", "/a/b.svg", "--markdown", "/a/c.md"]);
        var text = new Report("Title", ["note"], [new ReportTable("empty", TextColumns: 1, ["a"], [])])
            .ToMarkdown(command, new DateTimeOffset(2026, 11, 23, 4, 5, 6, TimeSpan.Zero), machine, ["device"]);
        text.ReplaceLineEndings("\n").Should().Be(
            "# Title\n\nGenerated by `compare --directory DIR --rounds 3 --svg FILE --markdown FILE` on 23 November 2026, 04:05 UTC.\n"
            + "Machine: an OS; a runtime; a processor, 2 cores, 25.28 GB; ext4 on vda.\n"
            + "This file is the output of `--markdown`: to change it, run the command again.\n\n- device\n- note\n");
    }

    [Fact]
    public void Results_are_kept_as_json_with_their_machine()
    {
        using var directory = new TestDirectory();
        var json = Path.Combine(directory.Path, "results.json");
        using (var session = new MeasuringSession(directory.Path, json, markdown: null, "seeds"))
            session.Finish(new Report("Title", [], []), new List<RunResult>());
        using var document = System.Text.Json.JsonDocument.Parse(File.ReadAllText(json));
        document.RootElement.EnumerateObject().Select(property => property.Name).Should().Equal("date", "machine", "rawDevice", "results");
    }

    [Fact]
    public void A_memory_probe_reads_with_one_thread_and_with_two()
    {
        var result = MemoryProbe.Run(1 << 20, threads: 2, steps: 10_000);
        result.Bytes.Should().Be(1 << 20);
        result.OneThreadPerSecond.Should().BePositive();
        result.Scaling.Should().BePositive();
    }

    [Fact]
    public void Commits_beside_a_flush_are_counted_apart()
    {
        var log = new CommitLog(capacity: 4);
        foreach (var end in (long[])[10, 20, 30, 40])
            log.Add(end, nanoseconds: end * 1_000);
        var summary = log.During([new FlushInterval(5, 8), new FlushInterval(15, 20), new FlushInterval(35, 99)], out var commits)!;
        commits.Should().Be(2);
        summary.MaxMicroseconds.Should().Be(40);
        log.During([], out commits).Should().BeNull();
        commits.Should().Be(0);
    }

    [Fact]
    public void A_log_of_commits_that_is_full_takes_no_more()
    {
        var log = new CommitLog(capacity: 1);
        log.Add(10, 1);
        log.Add(11, 1);
        log.During([new FlushInterval(0, 20)], out var commits);
        commits.Should().Be(1);
    }

    [Fact]
    public void Garbage_is_counted_from_a_tenth_of_the_run_on()
    {
        var allocation = new SteadyAllocation();
        var kept = new List<byte[]>();
        for (var done = 1; done <= 100; done++)
        {
            kept.Add(new byte[done <= 10 ? 100_000 : 1_000]);
            allocation.Report(done, 100);
        }
        allocation.End(100);
        allocation.BytesPerOperation.Should().BeInRange(1_000, 20_000, "others allocate beside this test");
        kept.Should().HaveCount(100);
    }

    [Fact]
    public void Durable_writes_are_probed_beside_buffered_ones()
    {
        using var directory = new TestDirectory();
        FlushingProbe.Time = TimeSpan.FromMilliseconds(50);
        var result = FlushingProbe.Run(directory.Path, recordBytes: 5_000, pauseNanoseconds: 0, writeBytes: 65_536, 1 << 20);
        if (result is null)
            return; // no unbuffered writes here
        result.RecordBytes.Should().Be(8_192);
        result.Records.Should().BePositive();
        result.BufferedMegabytesPerSecond.Should().BePositive();
        Directory.EnumerateFiles(directory.Path).Should().BeEmpty();
    }

    [Theory]
    [InlineData(typeof(MicroSuite), 8)]
    [InlineData(typeof(TransactionSuite), 4)]
    public void Small_benchmarks_run(Type suite, int count)
    {
        var instance = Activator.CreateInstance(suite);
        MethodInfo[] Marked<T>()
            where T : Attribute => [.. suite.GetMethods().Where(method => method.GetCustomAttribute<T>() is not null)];
        Marked<GlobalSetupAttribute>().Single().Invoke(instance, null);
        foreach (var benchmark in Marked<BenchmarkAttribute>())
            benchmark.Invoke(instance, null);
        Marked<GlobalCleanupAttribute>().Single().Invoke(instance, null);
        Marked<BenchmarkAttribute>().Should().HaveCount(count);
    }

    /// <summary>A run of ten seconds and of a hundred operations a transaction.</summary>
    internal static RunResult Run(WorkloadDefinition workload, string engine, long operations) => new()
    {
        Engine = engine,
        Settings = "",
        Workload = workload.Name,
        Round = 0,
        Items = operations,
        Operations = operations,
        Transactions = operations / 100,
        EngineSeconds = 10,
        Usage = new ProcessUsage(10, 5, 5, 0),
        AllocatedBytes = 0,
        AllocatedBytesClosed = 0,
        Checksum = "",
    };
}
