using System.CommandLine;
using Voron.Tool.Running;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Shows the sizes of an environment's files, and where their space goes.</summary>
internal static class StatsCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var command = new Command("stats", "Shows the sizes of an environment's files, and where their space goes.");
        return access.AddTo(command).Runs((parsed, output, _) =>
        {
            using var opened = access.OpenToReadOrShow(parsed, output);
            if (opened is null)
                return Task.FromResult(ExitCode.Done);
            var environment = opened.Environment;
            var statistics = environment.GetStatistics();
            using var reading = environment.BeginRead();
            var trees = reading.GetTreeNames().Select(name => reading.OpenTree(name).GetStatistics()).ToList();
            output.WriteFacts(
            [
                ("data file bytes", statistics.DataFileBytes),
                ("free data file bytes", statistics.FreeDataFileBytes),
                ("journal bytes", statistics.TotalJournalBytes),
                ("live journal bytes", statistics.LiveJournalBytes),
                ("volume free bytes", statistics.VolumeFreeBytes),
                ("trees", trees.Count),
                ("entries", trees.Sum(tree => tree.Entries)),
                ("leaf pages", trees.Sum(tree => tree.LeafPages)),
                ("branch pages", trees.Sum(tree => tree.BranchPages)),
                ("overflow pages", trees.Sum(tree => tree.OverflowPages)),
                ("page size", statistics.PageSize),
            ]);
            return Task.FromResult(ExitCode.Done);
        });
    }
}
