using System.CommandLine;

namespace Voron.Tool.Commands;

/// <summary>Lists the trees of an environment.</summary>
internal static class TreesCommand
{
    public static Command Create()
    {
        var directory = ToolContext.DirectoryArgument();
        return new Command("trees", "Lists the trees of an environment, with their sizes.") { directory }.Runs((parsed, output, _) =>
        {
            using var environment = ToolContext.OpenToRead(parsed.GetRequiredValue(directory));
            using var reading = environment.BeginRead();
            var rows = new List<object?[]>();
            foreach (var name in reading.GetTreeNames())
            {
                var tree = reading.OpenTree(name).GetStatistics();
                rows.Add([name, tree.Entries, tree.Depth, tree.LeafPages, tree.BranchPages, tree.OverflowPages]);
            }

            output.WriteRows("trees", ["name", "entries", "depth", "leaf pages", "branch pages", "overflow pages"], rows);
            return Task.FromResult(ExitCode.Done);
        });
    }
}
