using System.CommandLine;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Lists the trees of an environment.</summary>
internal static class TreesCommand
{
    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        return access.AddTo(new Command("trees", "Lists the trees of an environment, with their sizes.")).Runs((parsed, output, stop) =>
        {
            using var opened = access.OpenToRead(parsed);
            var environment = opened.Environment;
            long pageSize = environment.GetStatistics().PageSize;
            using var reading = environment.BeginRead();
            var rows = new List<object?[]>();
            foreach (var name in reading.GetTreeNames())
            {
                stop.ThrowIfCancellationRequested();
                var tree = reading.GetTreeStatistics(name, out _);
                rows.Add([name, tree.Entries, tree.Depth, tree.LeafPages, tree.BranchPages, tree.OverflowPages]);
            }

            var dropped = reading.GetDroppedTrees().Select(tree => new object?[] { tree.TreeId, tree.Pages, tree.Pages * pageSize });
            output.WriteRows(
                new ToolRows("trees", ["name", "entries", "depth", "leaf pages", "branch pages", "overflow pages"], rows),
                new ToolRows("droppedTrees", ["dropped tree", "pages left", "bytes left"], [.. dropped]));
            return Task.FromResult(ExitCode.Done);
        });
    }
}
