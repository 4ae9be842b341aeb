using System.Xml.Linq;
using Voron.Benchmarks.Measurement;
using Voron.Benchmarks.Reporting;

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
    public void Charts_are_well_formed_and_escape_names()
    {
        var bars = XDocument.Parse(SvgChart.Bars("a < b", "items & more", [new ChartBar("one", 3), new ChartBar("two", 0)]));
        bars.Descendants().Count(element => element.Name.LocalName == "rect").Should().Be(3, "of the two bars and the ground");
        var lines = XDocument.Parse(SvgChart.Lines("t", "x", "y", [new ChartLine("l", [(0, 1), (10, 2)]), new ChartLine("empty", [])]));
        lines.Descendants().Count(element => element.Name.LocalName == "polyline").Should().Be(2);
    }

    [Fact]
    public void A_table_in_markdown_keeps_its_columns()
    {
        var text = new System.Text.StringBuilder();
        MarkdownTable.Append(text, "T", 1, ["a", "b"], [["x|y", "1"]]);
        text.ToString().ReplaceLineEndings("\n").Should().Be("\n## T\n\n| a | b |\n|---|---:|\n| x\\|y | 1 |\n");
    }

    [Fact]
    public void A_memory_probe_reads_with_one_thread_and_with_two()
    {
        MemoryProbeResult result = MemoryProbe.Run(1 << 20, threads: 2, steps: 10_000);
        result.Bytes.Should().Be(1 << 20);
        result.OneThreadPerSecond.Should().BePositive();
        result.Scaling.Should().BePositive();
    }
}
