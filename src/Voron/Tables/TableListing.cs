using Voron.Trees;

namespace Voron.Tables;

/// <summary>Lists the tables of an environment with their indexes and sizes. Needs no definitions.</summary>
public static class TableListing
{
    /// <summary>Returns all tables of the newest state, in the order of the UTF-8 bytes of their names.</summary>
    /// <param name="environment">The environment.</param>
    /// <exception cref="CorruptionException">A schema is damaged, or the tree of a table is missing.</exception>
    /// <exception cref="ArgumentNullException">The environment is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public static IReadOnlyList<TableStatistics> GetTables(this StorageEnvironment environment)
    {
        ArgumentNullException.ThrowIfNull(environment);
        using var reading = environment.BeginRead();
        return reading.GetTables();
    }

    /// <summary>Returns all tables of a snapshot, in the order of the UTF-8 bytes of their names.</summary>
    /// <param name="transaction">The snapshot.</param>
    /// <exception cref="CorruptionException">A schema is damaged, or the tree of a table is missing.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static IReadOnlyList<TableStatistics> GetTables(this ReadTransaction transaction)
    {
        var trees = transaction.GetSystemTreeSizes().ToDictionary(
            tree => Convert.ToHexString(tree.Name), tree => new Size(tree.Entries, tree.Values, tree.Pages));
        return [.. ReadSchemas(transaction).Select(schema => Describe(schema, trees, transaction.DataFilePath))];
    }

    /// <summary>Reads the schemas of all tables.</summary>
    /// <exception cref="CorruptionException">A schema is damaged.</exception>
    internal static List<TableSchema> ReadSchemas(ReadTransaction transaction)
    {
        var schemas = new List<TableSchema>();
        if (!transaction.TryFindTree(SystemTree.Schemas, out Tree tree))
            return schemas;
        foreach (var entry in tree.Prefix(SchemaKeys.Tables))
            schemas.Add(TableSchema.Parse(SchemaKeys.TableName(entry.Key), entry.Value, transaction.DataFilePath));
        return schemas;
    }

    private static TableStatistics Describe(TableSchema schema, Dictionary<string, Size> trees, string path)
    {
        var rows = Find(SystemTree.RowsName(schema.Id));
        return new TableStatistics(
            schema.Name, schema.Version, schema.HasRowIdKeys ? null : schema.KeyCodecName, rows.Entries, rows.Pages,
            [.. schema.Indexes.OrderBy(index => index.Id).Select(index => Of(index, Find(index.TreeName(schema.Id))))]);

        Size Find(byte[] name) => trees.TryGetValue(Convert.ToHexString(name), out var size)
            ? size
            : throw new CorruptionException(
                $"The {TableLabels.Of(name, [schema])} is missing in '{path}'. Run Verify, or restore a backup.");
    }

    private static IndexStatistics Of(IndexSchema index, Size tree)
    {
        var ids = index.IsUnique ? tree.Entries : tree.Values;
        var isBuilding = index.State == IndexState.Building;
        return new IndexStatistics(index.Name, index.Version, index.IsUnique, index.State, tree.Entries, ids, tree.Pages)
        {
            Cursor = isBuilding ? index.Cursor : null,
            Limit = isBuilding ? index.Limit : null,
            IsShared = index.Shared != null,
        };
    }

    /// <summary>The size of a tree.</summary>
    private readonly record struct Size(long Entries, long Values, long Pages);
}
