using System.CommandLine;
using Voron.Feeds;
using Voron.Tables;
using Voron.Tool.Reports;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Shows the sizes of an environment's files, and where their space goes.</summary>
internal static class StatsCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var html = new Option<string?>("--html") { Description = "Writes a page with drawings to this new file." };
        var command = new Command("stats", "Shows the sizes of an environment's files, and where their space goes.");
        if (!access.IsInShell)
            command.Options.Add(html);
        return access.AddTo(command).Runs((parsed, output, stop) =>
        {
            if (!access.IsInShell && parsed.GetValue(html) is { } file)
                return Task.FromResult(WritePage(access.DirectoryOf(parsed), file, output, stop));
            using var opened = access.OpenToReadOrShow(parsed, output);
            if (opened is null)
                return Task.FromResult(ExitCode.Done);
            var environment = opened.Environment;
            var statistics = environment.GetStatistics();
            using var reading = environment.BeginRead();
            var trees = TreeSizes.Of(reading);
            var named = trees.Where(tree => !tree.IsSystem).ToList();
            var ofTables = trees.Where(tree => tree is { IsSystem: true, IsOfFeeds: false }).Sum(tree => tree.Header.Pages);
            var ofFeeds = trees.Where(tree => tree.IsOfFeeds).Sum(tree => tree.Header.Pages);
            var feeds = reading.GetFeeds();
            var tables = reading.GetTables();
            var dropped = reading.GetDroppedTrees();
            var droppedPages = dropped.Sum(tree => tree.Pages);
            output.WriteFacts(
            [
                ("data file bytes", statistics.DataFileBytes),
                ("free data file bytes", statistics.FreeDataFileBytes),
                ("journal bytes", statistics.TotalJournalBytes),
                ("live journal bytes", statistics.LiveJournalBytes),
                ("volume free bytes", statistics.VolumeFreeBytes),
                ("trees", named.Count),
                ("entries", named.Sum(tree => tree.Size.Entries)),
                ("tables", tables.Count),
                ("rows", tables.Sum(table => table.Rows)),
                ("leaf pages", trees.Sum(tree => tree.Size.LeafPages)),
                ("branch pages", trees.Sum(tree => tree.Size.BranchPages)),
                ("overflow pages", trees.Sum(tree => tree.Size.OverflowPages)),
                ("nested pages", trees.Sum(tree => tree.Size.NestedPages)),
                ("pages of tables", ofTables),
                ("bytes of tables", ofTables * statistics.PageSize),
                ("feeds", feeds.Count),
                ("changes", feeds.Sum(feed => feed.Changes)),
                ("pages of feeds", ofFeeds),
                ("bytes of feeds", ofFeeds * statistics.PageSize),
                ("dropped trees", dropped.Count),
                ("pages of dropped trees", droppedPages),
                ("bytes of dropped trees", droppedPages * statistics.PageSize),
                ("page size", statistics.PageSize),
            ]);
            return Task.FromResult(ExitCode.Done);
        });
    }

    // The page shows what is in the files, which the process that has them open keeps to itself.
    private static ExitCode WritePage(string directory, string file, ToolOutput output, CancellationToken stop)
    {
        ToolContext.RefuseWithin(directory, file);
        ReportFile.RefuseExisting(file);
        SpaceReport report;
        using (var environment = ToolContext.OpenToRead(directory))
            report = SpaceReport.Collect(environment, stop);
        ReportFile.Write(file, HtmlReport.Write(report));
        output.WriteFacts([("file", Path.GetFullPath(file)), ("bytes", new FileInfo(file).Length)]);
        return ExitCode.Done;
    }
}
