using System.Text;
using Voron.ChangeTracking;
using Voron.Journal;
using Voron.Paging;
using static Voron.Tool.Reports.HtmlText;

namespace Voron.Tool.Reports;

/// <summary>Writes a report as one page of HTML that needs nothing else: no script, no font, no picture from elsewhere.</summary>
internal sealed class HtmlReport(SpaceReport report)
{
    /// <summary>The number of trees that have a line of their own.</summary>
    private const int MostTrees = 100;

    private const int FillSteps = 10;

    /// <summary>The kinds of pages, by their classes in the style.</summary>
    private static readonly (string Kind, string What)[] Kinds =
    [
        ("leaf", "leaves"), ("branch", "branches"), ("overflow", "values of their own pages"), ("nested", "large sets of ids"),
    ];

    private readonly StringBuilder _text = new();

    /// <summary>Returns the page.</summary>
    public static string Write(SpaceReport report) => new HtmlReport(report).Write();

    private string Write()
    {
        var name = Escape(report.Path);
        Add($"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{name}: space</title>\n");
        Add("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
        Add("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
        Add($"<style>\n{HtmlStyle.Css}\n</style>\n</head>\n<body>\n<h1>{name}</h1>\n");
        Add($"<p class=\"faint\">Environment {report.EnvironmentId}, format {report.FormatVersion}, as of transaction ");
        Add($"{Sizes.Count(report.TransactionId)}. Made {Time(report.Time)}.</p>\n");
        AddCards();
        AddTrees();
        AddFill();
        AddMap();
        AddJournal();
        AddGrowth();
        Add("</body>\n</html>\n");
        return _text.ToString();
    }

    private void Add(string text) => _text.Append(text);

    private double BytesOf(long pages) => pages * (double)report.PageSize;

    private void AddCards()
    {
        var free = report.PageCount - report.UsedPages;
        Add("<div class=\"cards\">\n");
        Card(Sizes.Bytes(report.DataFileBytes), "data file");
        Card(Sizes.Bytes(BytesOf(report.UsedPages)), "pages in use");
        Card(Sizes.Bytes(BytesOf(free)), "free pages within");
        Card(Sizes.Bytes(Math.Max(0, report.DataFileBytes - BytesOf(report.PageCount))), "room to grow into");
        Card(Sizes.Bytes(JournalFiles().Sum(file => file.Bytes)), "journal files");
        var named = report.Trees.Where(tree => !tree.IsSystem).ToList();
        if (named.Count > 0 || report.Tables == 0)
        {
            Card(Sizes.Count(named.Count), named.Count == 1 ? "tree" : "trees");
            Card(Sizes.Count(named.Sum(tree => tree.Size.Entries)), "entries");
        }

        if (report.Tables > 0)
        {
            Card(Sizes.Count(report.Tables), report.Tables == 1 ? "table" : "tables");
            Card(Sizes.Count(report.Rows), report.Rows == 1 ? "row" : "rows");
        }

        Card(Sizes.Bytes(report.PageSize), "page size");
        Add("</div>\n");
    }

    private void Card(string value, string what) => Add($"<div><b>{value}</b><span>{what}</span></div>\n");

    private void AddTrees()
    {
        Add("<h2>Space by tree</h2>\n");
        AddDropped();
        if (report.Trees.Count == 0)
        {
            Add("<p>There is no tree and no table.</p>\n");
            return;
        }

        Add("<p class=\"legend\">");
        foreach (var (kind, what) in Kinds)
            Add($"{HtmlCharts.Key(kind)} {what} &nbsp; ");
        Add("</p>\n<div class=\"wide\"><table>\n<tr><th>tree</th><th></th><th>size</th><th class=\"more\">share</th><th>entries</th>");
        Add("<th class=\"more\">bytes an entry</th><th class=\"more\">leaves filled</th><th class=\"more\">levels</th></tr>\n");
        var largest = report.Trees[0].Pages;
        foreach (var tree in report.Trees.Take(MostTrees))
            AddTree(Name(tree.Name), tree, largest);
        if (report.Trees.Count > MostTrees)
        {
            var others = report.Trees.Skip(MostTrees).ToList();
            var size = new TreeStatistics(
                others.Sum(tree => tree.Size.Entries), others.Max(tree => tree.Size.Depth), others.Sum(tree => tree.Size.LeafPages),
                others.Sum(tree => tree.Size.BranchPages), others.Sum(tree => tree.Size.OverflowPages))
            {
                NestedPages = others.Sum(tree => tree.Size.NestedPages),
            };
            AddTree($"<i>{Sizes.Count(others.Count)} smaller trees</i>", new TreeSpace("", size, null), largest);
        }

        Add("</table></div>\n");
    }

    private void AddDropped()
    {
        if (report.DroppedTrees.Count == 0)
            return;
        var pages = report.DroppedTrees.Sum(tree => tree.Pages);
        Add($"<p>{Of(report.DroppedTrees.Count, "dropped tree")} with {Sizes.Bytes(BytesOf(pages))}, ");
        Add($"{Percent(pages / (double)Math.Max(1, report.UsedPages))} of the pages in use. ");
        Add("They are freed in the background while the environment is open for writing.</p>\n");
    }

    private void AddTree(string name, TreeSpace tree, long largest)
    {
        var size = tree.Size;
        var bar = HtmlCharts.Bar(
            [("leaf", size.LeafPages), ("branch", size.BranchPages), ("overflow", size.OverflowPages), ("nested", size.NestedPages)],
            Math.Max(largest, tree.Pages));
        var each = size.Entries == 0 ? "–" : Sizes.Bytes(BytesOf(tree.Pages) / size.Entries);
        Add($"<tr><td>{name}</td><td class=\"draw\">{bar}</td><td>{Sizes.Bytes(BytesOf(tree.Pages))}</td>");
        Add($"<td class=\"more\">{Percent(tree.Pages / (double)Math.Max(1, report.UsedPages))}</td><td>{Sizes.Count(size.Entries)}</td>");
        Add($"<td class=\"more\">{each}</td><td class=\"more\">{(tree.LeafFill is { } fill ? Percent(fill) : "–")}</td>");
        Add($"<td class=\"more\">{size.Depth}</td></tr>\n");
    }

    private void AddFill()
    {
        var leaves = report.Sample.Where(page => page.IsLeaf).Select(page => page.UsedFraction).ToList();
        Add("<h2>How full the leaves are</h2>\n");
        if (leaves.Count == 0)
        {
            Add("<p>No leaf was found among the pages that were looked at.</p>\n");
            return;
        }

        var counts = new int[FillSteps];
        foreach (var fill in leaves)
            counts[Math.Min(FillSteps - 1, (int)(fill * FillSteps))]++;
        Add($"<p>{Sizes.Count(leaves.Count)} leaves, spread over the data file, are filled to {Percent(leaves.Average())} on average. ");
        Add("Keys that come in ascending order fill leaves completely; random ones to about two thirds.</p>\n");
        Add(HtmlCharts.Columns(
            "Leaves by how full they are",
            [.. counts.Select((count, i) => ((double)count, $"{i * 10} to {i * 10 + 10} % filled: {Sizes.Count(count)} leaves"))],
            ("empty", $"the highest column is {Sizes.Count(counts.Max())} leaves", "full")));
        Add("\n");
    }

    private void AddMap()
    {
        Add("<h2>Used and free pages, by place in the data file</h2>\n");
        if (report.Cells.Count == 0)
            return;
        var free = report.PageCount - report.UsedPages;
        Add($"<p>Each square is {Sizes.Bytes(BytesOf(report.Cells[0].Pages))} of the data file, from left to right and from top to bottom. ");
        Add($"{Percent(free / (double)Math.Max(1, report.PageCount))} of the pages are free; later writes use them. ");
        Add("Free pages at the end go back to the file system; <code>voron compact</code> moves the others there.</p>\n");
        Add(HtmlCharts.HeatMap(report.Cells, report.PageSize));
        Add(HtmlCharts.HeatLegend());
        Add("\n");
    }

    private void AddJournal()
    {
        var files = JournalFiles().ToList();
        Add("<h2>Journal and other files</h2>\n");
        Add($"<p>{Of(files.Count, "journal file")} with {Sizes.Bytes(files.Sum(file => file.Bytes))}. ");
        Add(report.ReplayedRecords == 0
            ? "The data file has everything: an opening replays nothing.</p>\n"
            : $"An opening replays {Of(report.ReplayedRecords, "record")}: the data file is as of transaction {Sizes.Count(report.CheckpointTransactionId)}.</p>\n");
        Add("<div class=\"wide\"><table>\n<tr><th>file</th><th></th><th>size</th></tr>\n");
        var largest = report.Files.Max(file => (double)file.Bytes);
        foreach (var (name, bytes) in report.Files.Where(file => IsShown(file.Name)))
            AddFile(Escape(name), bytes, largest);
        if (files.Count > 0)
            AddFile(Of(files.Count, "journal file"), files.Sum(file => file.Bytes), largest);
        var others = report.Files.Where(file => !IsShown(file.Name) && !JournalFile.IsName(file.Name)).ToList();
        if (others.Count > 0)
            AddFile(Of(others.Count, "other file"), others.Sum(file => file.Bytes), largest);
        Add("</table></div>\n");
    }

    private void AddFile(string name, long bytes, double largest) =>
        Add($"<tr><td>{name}</td><td class=\"draw\">{HtmlCharts.Bar([("leaf", bytes)], largest)}</td><td>{Sizes.Bytes(bytes)}</td></tr>\n");

    private void AddGrowth()
    {
        Add("<h2>Growth</h2>\n<p>");
        Add($"{Of(report.TransactionId, "transaction")} so far");
        Add(report.CommitTime is { } time ? $", the last one at {Time(time)}. " : ". ");
        Add("An environment keeps no history of its size. ");
        if (report.Flushes.Count == 0)
        {
            Add("Its change log would tell which pages flushes have changed; it begins with the first backup that others can build on, and there is none.</p>\n");
            return;
        }

        var bars = HtmlCharts.Gather(report.Flushes);
        Add("Its change log tells which pages ");
        Add(report.Flushes.Count == 1 ? "one flush has" : $"{Sizes.Count(report.Flushes.Count)} flushes have");
        Add(" changed: new ones, and those that existed before.</p>\n");
        Add(HtmlCharts.Columns(
            "Bytes of pages changed by flushes, by transaction",
            [.. bars.Select(bar => (BytesOf(bar.Pages), Describe(bar)))],
            (
                $"transaction {Sizes.Count(bars[0].From + 1)}", $"the highest column is {Sizes.Bytes(BytesOf(bars.Max(bar => bar.Pages)))}",
                $"transaction {Sizes.Count(bars[^1].To)}")));
        Add("\n");
    }

    private string Describe(FlushRecord flush) =>
        $"transactions {Sizes.Count(flush.From + 1)} to {Sizes.Count(flush.To)}: {Sizes.Bytes(BytesOf(flush.Pages))} changed";

    private static string Of(long count, string what) => $"{Sizes.Count(count)} {what}{(count == 1 ? "" : "s")}";

    private IEnumerable<(string Name, long Bytes)> JournalFiles() => report.Files.Where(file => JournalFile.IsName(file.Name));

    private static bool IsShown(string name) =>
        name is DataFile.FileName or HeaderFile.FileName || ChangeLogFile.NumberOf(name) > 0 || JournalSnapshotFile.NumberOf(name) > 0;
}
