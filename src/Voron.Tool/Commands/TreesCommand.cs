using System.CommandLine;
using Voron.Format;
using Voron.Tool.Shell;

namespace Voron.Tool.Commands;

/// <summary>Lists the trees of an environment.</summary>
internal static class TreesCommand
{
    private static readonly string[] Columns =
    [
        "name", "entries", "depth", "leaf pages", "branch pages", "overflow pages", "nested pages", "kind", "ids",
    ];

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
                var tree = reading.GetTreeStatistics(name, out var header);
                rows.Add(
                [
                    name, tree.Entries, tree.Depth, tree.LeafPages, tree.BranchPages, tree.OverflowPages, tree.NestedPages, NameOf(header.Kind),
                    header.Kind == TreeKind.IdSets ? header.NestedValues : null,
                ]);
            }

            var dropped = reading.GetDroppedTrees().Select(tree => new object?[] { tree.TreeId, tree.Pages, tree.Pages * pageSize });
            output.WriteRows(
                new ToolRows("trees", Columns, rows),
                new ToolRows("droppedTrees", ["dropped tree", "pages left", "bytes left"], [.. dropped]));
            return Task.FromResult(ExitCode.Done);
        });
    }

    private static string NameOf(TreeKind kind) => kind switch
    {
        TreeKind.IdSets => "id sets",
        TreeKind.Array => "fixed-size",
        _ => "ordinary",
    };
}
