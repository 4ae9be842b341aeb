using System.Reflection;
using BenchmarkDotNet.Attributes;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Processes;
using Voron.Benchmarks.Reporting;
using Voron.Benchmarks.Suites;
using Voron.Benchmarks.Workloads;

namespace Voron.Tests.Benchmarks;

public sealed class MeasurementTests
{
    [Fact]
    public void A_histogram_knows_its_percentiles()
    {
        var histogram = new LatencyHistogram();
        for (int i = 1; i <= 10_000; i++)
            histogram.Record(i * 1_000L);
        LatencySummary summary = histogram.Summarise()!;
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

    [Theory]
    [InlineData(100, 10)]
    [InlineData(4096, 10)]
    [InlineData(8192, 15)]
    [InlineData(12288, 20)]
    [InlineData(24576, 40)]
    public void A_raw_write_of_any_size_is_read_off_the_probes(double bytes, double microseconds)
    {
        LatencySummary none = new(0, 0, 0, 0);
        ProbeResult[] probes = [new(12288, 1, 20, 0, none), new(4096, 1, 10, 0, none)];
        RawDeviceProbe.MicrosecondsFor(probes, bytes).Should().BeApproximately(microseconds, 1e-9);
        RawDeviceProbe.MicrosecondsFor([], bytes).Should().BeNull();
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
        MarkdownTable.Append(text, "T", 1, ["a", "b"], [["x|y", "1"]]);
        text.ToString().ReplaceLineEndings("\n").Should().Be("\n### T\n\n| a | b |\n|---|---:|\n| x\\|y | 1 |\n");
    }

    [Fact]
    public void A_memory_probe_reads_with_one_thread_and_with_two()
    {
        MemoryProbeResult result = MemoryProbe.Run(1 << 20, threads: 2, steps: 10_000);
        result.Bytes.Should().Be(1 << 20);
        result.OneThreadPerSecond.Should().BePositive();
        result.Scaling.Should().BePositive();
    }

    [Fact]
    public void Commits_beside_a_flush_are_told_from_the_others()
    {
        var log = new CommitLog(capacity: 4);
        foreach (long end in (long[])[10, 20, 30, 40])
            log.Add(end, nanoseconds: end * 1_000);
        LatencySummary summary = log.During([new FlushInterval(5, 8), new FlushInterval(15, 20), new FlushInterval(35, 99)], out long commits)!;
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
        log.During([new FlushInterval(0, 20)], out long commits);
        commits.Should().Be(1);
    }

    [Fact]
    public void Garbage_is_counted_from_a_tenth_of_the_run_on()
    {
        var allocation = new SteadyAllocation();
        var kept = new List<byte[]>();
        for (int done = 1; done <= 100; done++)
        {
            kept.Add(new byte[done <= 10 ? 100_000 : 1_000]);
            allocation.Report(done, 100);
        }
        allocation.End(100);
        allocation.BytesPerOperation.Should().BeInRange(1_000, 20_000, "others allocate beside this test");
        kept.Should().HaveCount(100);
    }

    [Fact]
    public void Time_left_is_known_best_for_what_was_run_before()
    {
        var left = new TimeLeft([("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")]);
        left.Estimate().Should().BeNull();
        left.Add(10);
        left.Estimate()!.Value.TotalSeconds.Should().Be(30);
        left.Add(2);
        left.Estimate(0.5)!.Value.TotalSeconds.Should().Be((6 * 0.5) + 10);
    }

    [Fact]
    public void Durable_writes_are_probed_beside_buffered_ones()
    {
        using var directory = new TestDirectory();
        FlushingProbe.Time = TimeSpan.FromMilliseconds(50);
        FlushingProbeResult? result = FlushingProbe.Run(directory.Path, recordBytes: 5_000, pauseNanoseconds: 0, writeBytes: 65_536, 1 << 20);
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
        foreach (MethodInfo benchmark in Marked<BenchmarkAttribute>())
            benchmark.Invoke(instance, null);
        Marked<GlobalCleanupAttribute>().Single().Invoke(instance, null);
        Marked<BenchmarkAttribute>().Should().HaveCount(count);
    }
}
