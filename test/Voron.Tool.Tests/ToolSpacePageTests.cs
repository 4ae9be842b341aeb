using System.Text;
using System.Text.RegularExpressions;
using System.Xml.Linq;
using Voron.Tool.Reports;

namespace Voron.Tool.Tests;

/// <summary>The page that <c>voron stats --html</c> writes: whole, safe to open, and small for a store of any size.</summary>
public sealed partial class ToolSpacePageTests : IDisposable
{
    private readonly TestDirectory _directory = new();

    private string Store => Path.Combine(_directory.Path, "store");

    private string Page => Path.Combine(_directory.Path, "page.html");

    public void Dispose() => _directory.Dispose();

    [Fact]
    public async Task A_page_has_every_part_and_needs_nothing_else()
    {
        Fill("users", 3_000, 100);
        Fill("photos", 20, 60_000);
        await ToolRun.Done("backup", Store, Path.Combine(_directory.Path, "one.vback"), "--base");
        for (var i = 0; i < 5; i++)
            Fill("users", 3_000 + i, 100);
        var run = (await ToolRun.Done("stats", Store, "--html", Page, "-o", "json")).Json;
        run.GetProperty("file").GetString().Should().Be(Page);
        var text = File.ReadAllText(Page);
        run.GetProperty("bytes").GetInt64().Should().Be(new FileInfo(Page).Length);

        foreach (var part in new[] { "Space by tree", "How full the leaves are", "Used and free pages", "Journal", "Growth" })
            text.Should().Contain(part);
        text.Should().Contain("users").And.Contain("photos").And.Contain("3,004");
        text.Should().Contain("Its change log tells").And.Contain("Bytes of pages changed by flushes");
        text.Should().NotContain("<script").And.NotContain("http://").And.NotContain("https://").And.NotContain("url(").And.NotContain("@import");
        text.Should().Contain("prefers-color-scheme:dark").And.Contain("@media print");
        ShouldBeWellFormed(text);
    }

    [Theory]
    [InlineData("<script>alert(1)</script>")]
    [InlineData("\"><img src=x onerror=alert(1)>")]
    [InlineData("a&b'c</td>")]
    [InlineData("\u202Etxt.exe\u0000\u001B[31m\u2028")]
    [InlineData("{{x}}<!-- ]]> -->")]
    public async Task The_name_of_a_tree_is_text_whatever_it_has(string name)
    {
        Fill(name, 10, 10);
        Fill(string.Concat(Enumerable.Repeat("<b>", 80)), 5, 10);
        await ToolRun.Done("stats", Store, "--html", Page);
        var text = File.ReadAllText(Page);
        text.Should().NotContain("<script").And.NotContain("<img").And.NotContain("<b><b>").And.NotContain("<!-- ]");
        text.Should().NotContainAny("\u202E", "\0", "\u001B", "\u2028");
        text.Should().Contain(HtmlText.Escape(name));
        ShouldBeWellFormed(text);
    }

    [Fact]
    public async Task Nothing_is_overwritten_and_nothing_is_left_of_a_failure()
    {
        Fill("t", 10, 10);
        File.WriteAllText(Page, "mine");
        var taken = await ToolRun.Of("stats", Store, "--html", Page);
        taken.Code.Should().Be(ExitCode.InUse);
        taken.Error.Should().Contain(Page);
        File.ReadAllText(Page).Should().Be("mine");
        (await ToolRun.Of("stats", Store, "--html", Path.Combine(Store, "page.html"))).Code.Should().Be(ExitCode.Usage);
        (await ToolRun.Of("stats", Store, "--html", Path.Combine(_directory.Path, "missing", "page.html"))).Code.Should().Be(ExitCode.NothingThere);
        (await ToolRun.Of("stats", Path.Combine(_directory.Path, "none"), "--html", Page + "2")).Code.Should().Be(ExitCode.NothingThere);
        using (StorageEnvironment.Open(Store))
            (await ToolRun.Of("stats", Store, "--html", Page + "2")).Code.Should().Be(ExitCode.InUse);
        File.Exists(Page + "2").Should().BeFalse();
    }

    [Fact]
    public async Task An_empty_environment_has_a_page()
    {
        using (StorageEnvironment.Open(Store))
        {
        }

        await ToolRun.Done("stats", Store, "--html", Page);
        var text = File.ReadAllText(Page);
        text.Should().Contain("There is no tree").And.Contain("No leaf was found").And.Contain("there is none");
        ShouldBeWellFormed(text);
    }

    /// <summary>A data file of a terabyte has 262,144 sections.</summary>
    [Fact]
    public void The_page_of_a_large_store_is_small()
    {
        const long Sections = 262_144;
        const int PagesPerSection = 1_024;
        var cells = SpaceMap.Read(
            Sections, PagesPerSection, (Sections * PagesPerSection) - 100, section => section % 2 == 0 ? PagesPerSection : 0,
            TestContext.Current.CancellationToken);
        cells.Should().HaveCount(SpaceMap.MostCells);
        cells.Sum(cell => cell.Pages).Should().Be((Sections * PagesPerSection) - 100);
        cells.Sum(cell => cell.UsedPages).Should().Be(Sections / 2 * PagesPerSection);
        cells[..^1].Should().OnlyContain(cell => Math.Abs(cell.UsedFraction - 0.5) < 0.001);
        var report = new SpaceReport
        {
            Path = "/large",
            Time = DateTimeOffset.UnixEpoch,
            EnvironmentId = "0",
            FormatVersion = 2,
            PageSize = 4096,
            TransactionId = 1L << 40,
            CheckpointTransactionId = 1,
            CommitTime = null,
            PageCount = Sections * PagesPerSection,
            UsedPages = Sections / 2 * PagesPerSection,
            ReplayedRecords = 7,
            Cells = cells,
            Sample = [],
            Files = [("voron.data", 1L << 40), ("journal-00000001.voron", 1 << 20)],
            Trees = [.. Enumerable.Range(0, 5_000).Select(i => new TreeSpace($"tree {i}", new TreeStatistics(i, 3, 5_000 - i, 1, 0), null))],
            Flushes = [.. Enumerable.Range(0, 100_000).Select(i => new FlushRecord(i, i + 1, i))],
        };
        var text = HtmlReport.Write(report);
        text.Length.Should().BeLessThan(300_000);
        text.Should().Contain("4,900 smaller trees").And.Contain("1 TiB").And.Contain("replays 7 records").And.Contain("100,000 flushes");
        ShouldBeWellFormed(text);
    }

    [Fact]
    public void Parts_of_the_file_add_up_whatever_its_length()
    {
        var random = new Random(TestSeed.Choose());
        for (var round = 0; round < 500; round++)
        {
            var sections = random.Next(1, 5_000);
            var used = Enumerable.Range(0, sections).Select(_ => random.Next(65)).ToArray();
            var pageCount = (sections * 64L) - random.Next(64);
            var cells = SpaceMap.Read(sections, 64, pageCount, section => used[section], TestContext.Current.CancellationToken);
            cells.Should().HaveCountLessThanOrEqualTo(SpaceMap.MostCells);
            cells.Sum(cell => cell.UsedPages).Should().Be(used.Sum(pages => (long)pages));
            cells.Sum(cell => cell.Pages).Should().Be(pageCount);
        }
    }

    [Fact]
    public void Flushes_are_gathered_without_a_gap()
    {
        var flushes = Enumerable.Range(0, 1_001).Select(i => new FlushRecord(i, i + 1, 2)).ToList();
        var bars = HtmlCharts.Gather(flushes);
        bars.Should().HaveCountLessThanOrEqualTo(60);
        bars.Sum(bar => bar.Pages).Should().Be(2_002);
        bars.Zip(bars.Skip(1)).Should().OnlyContain(pair => pair.First.To == pair.Second.From);
        HtmlCharts.Gather([]).Should().BeEmpty();
    }

    // Names that HTML knows without a declaration, and elements without an end, are the only parts that XML does not have.
    private static void ShouldBeWellFormed(string page)
    {
        var xml = page.Replace("<!DOCTYPE html>", "", StringComparison.Ordinal).Replace("&nbsp;", "", StringComparison.Ordinal);
        var parsed = XDocument.Parse(EmptyElement().Replace(xml, "<$1/>"));
        parsed.Descendants().Select(element => element.Name.LocalName).Distinct().Should().BeSubsetOf(
        [
            "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "b", "span", "table", "tr", "th", "td", "svg", "rect", "bdi",
            "i", "code", "figure", "figcaption",
        ]);
        var attributes = parsed.Descendants().Attributes().Select(attribute => attribute.Name.LocalName).Distinct();
        attributes.Should().NotContain(name => name.StartsWith("on", StringComparison.OrdinalIgnoreCase));
    }

    [GeneratedRegex("<(meta [^>]*)>")]
    private static partial Regex EmptyElement();

    private void Fill(string tree, int entries, int length)
    {
        using var environment = StorageEnvironment.Open(Store);
        environment.Write(writing =>
        {
            var target = writing.CreateTree(tree);
            for (var i = 0; i < entries; i++)
                target.Put(Encoding.UTF8.GetBytes($"{i:D6}"), new byte[length]);
        });
    }
}
