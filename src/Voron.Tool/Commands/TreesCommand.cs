using System.CommandLine;
using Voron.Feeds;
using Voron.Format;
using Voron.Tables;
using Voron.Tool.Shell;
using Voron.Trees.Kinds;

namespace Voron.Tool.Commands;

/// <summary>Lists the trees, tables and change feeds of an environment.</summary>
internal static class TreesCommand
{
    private static readonly string[] Columns =
    [
        "name", "entries", "depth", "leaf pages", "branch pages", "overflow pages", "nested pages", "kind", "ids", "values",
    ];

    private static readonly string[] TableColumns = ["table", "version", "rows", "row pages", "row bytes", "keys", "indexes"];

    private static readonly string[] IndexColumns =
    [
        "table", "index", "version", "unique", "state", "keys", "row ids", "pages", "bytes", "cursor", "limit",
    ];

    private static readonly string[] CompressionColumns =
    [
        "compressed", "compression", "dictionaries", "dictionary bytes", "values", "compressed values", "plain bytes", "stored bytes",
    ];

    private static readonly string[] FeedColumns = ["feed", "changes", "bytes", "oldest transaction", "newest transaction", "records", "consumers"];

    public static Command Create(OpenEnvironment? shell = null)
    {
        var access = new EnvironmentAccess(shell);
        var compression = new Option<bool>("--compression")
        {
            Description = "Also lists the trees and tables with compressed values, and what that saves. Reads all leaves of these.",
        };
        var command = new Command("trees", "Lists the trees, tables and change feeds of an environment, with their sizes.") { compression };
        return access.AddTo(command).Runs((parsed, output, stop) =>
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
                    name, tree.Entries, tree.Depth, tree.LeafPages, tree.BranchPages, tree.OverflowPages, tree.NestedPages,
                    TreeKinds.Of(header.Kind).Name,
                    header.Kind == TreeKind.IdSets ? header.NestedValues : null, header.Kind == TreeKind.ValueSets ? header.NestedValues : null,
                ]);
            }

            var tables = reading.GetTables();
            var dropped = reading.GetDroppedTrees().Select(tree => new object?[] { tree.TreeId, tree.Pages, tree.Pages * pageSize });
            output.WriteRows(
                new ToolRows("trees", Columns, rows),
                TablesOf(tables, pageSize),
                IndexesOf(tables, pageSize),
                FeedsOf(reading.GetFeeds()),
                new ToolRows("droppedTrees", ["dropped tree", "pages left", "bytes left"], [.. dropped]),
                new ToolRows("compression", CompressionColumns, parsed.GetValue(compression) ? CompressionOf(reading, tables, stop) : []));
            return Task.FromResult(ExitCode.Done);
        });
    }

    private static ToolRows TablesOf(IReadOnlyList<TableStatistics> tables, long pageSize) => new(
        "tables", TableColumns,
        [
            .. tables.Select(table => new object?[]
            {
                table.Name, table.Version, table.Rows, table.RowPages, table.RowPages * pageSize, table.KeyKind ?? "row ids",
                table.Indexes.Count,
            }),
        ]);

    private static ToolRows IndexesOf(IReadOnlyList<TableStatistics> tables, long pageSize) => new(
        "indexes", IndexColumns,
        [
            .. tables.SelectMany(table => table.Indexes.Select(index => new object?[]
            {
                table.Name, index.Name.Length == 0 ? "(primary key)" : index.Name, index.Version, index.IsUnique, NameOf(index.State), index.Keys,
                index.RowIds, index.Pages, index.Pages * pageSize, index.Cursor, index.Limit,
            })),
        ]);

    private static List<object?[]> CompressionOf(ReadTransaction reading, IReadOnlyList<TableStatistics> tables, CancellationToken stop)
    {
        var rows = new List<object?[]>();
        foreach (var name in reading.GetTreeNames())
        {
            _ = reading.GetTreeStatistics(name, out var header);
            if (header.Kind == TreeKind.Plain)
                Add($"tree {name}", reading.GetCompressionStatistics(name, stop));
        }

        foreach (var table in tables)
            Add($"table {table.Name}", reading.GetTableCompressionStatistics(table.Name, stop));
        return rows;

        void Add(string what, CompressionStatistics found)
        {
            if (found.Compression != ValueCompression.None || found.CompressedValues > 0 || found.Dictionaries > 0)
            {
                rows.Add(
                [
                    what, found.Compression.ToString(), found.Dictionaries, found.DictionaryBytes, found.Values, found.CompressedValues,
                    found.PlainBytes, found.StoredBytes,
                ]);
            }
        }
    }

    private static ToolRows FeedsOf(IReadOnlyList<FeedInfo> feeds) => new(
        "feeds", FeedColumns,
        [
            .. feeds.Select(feed => new object?[]
            {
                feed.Name, feed.Changes, feed.Bytes, feed.Oldest.TransactionId, feed.Newest.TransactionId,
                string.Join(", ", feed.Sources.Select(source => source.ToString())),
                string.Join(", ", feed.Consumers.Select(Describe)),
            }),
        ]);

    private static string Describe(FeedConsumer consumer) => $"{consumer.Name} at {consumer.Position.TransactionId}-{consumer.Position.Ordinal}";

    private static string NameOf(IndexState state) => state switch
    {
        IndexState.Ready => "ready",
        IndexState.Building => "building",
        _ => "failed",
    };
}
