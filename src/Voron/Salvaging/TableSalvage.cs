using System.Buffers.Binary;
using System.Text;
using Voron.Tables;
using Voron.Trees;

namespace Voron.Salvaging;

/// <summary>Makes partly salvaged tables usable: their trees match each other, and none of them is missing.</summary>
/// <remarks>
/// <code>
///   a schema ─▶ rows and index are whole ─▶ the index stays
///            └▶ otherwise ─▶ the primary key without the keys of lost rows; another index empty, to be built again
///   none     ─▶ rows and indexes become ordinary trees in lost+found: another table must not get their numbers
/// </code>
/// </remarks>
/// <param name="environment">The new environment.</param>
/// <param name="findings">The findings.</param>
/// <param name="stop">Ends the work.</param>
internal sealed class TableSalvage(StorageEnvironment environment, SalvageFindings findings, CancellationToken stop)
{
    private const int DeletedTogether = 1000;

    private readonly Dictionary<string, TreeFindings> _trees =
        findings.Trees.Where(tree => tree.SystemName != null).ToDictionary(tree => Convert.ToHexString(tree.SystemName!));

    private readonly Dictionary<TreeFindings, string> _names = [];
    private readonly SharedSalvage _shared = new();

    /// <summary>Mends all tables.</summary>
    /// <param name="report">The report so far.</param>
    /// <returns>The report with the tables, and with the new names of their trees.</returns>
    /// <exception cref="OperationCanceledException">The salvage was cancelled.</exception>
    public SalvageReport Mend(SalvageReport report)
    {
        if (_trees.Count == 0)
            return report;
        var schemas = TakeSchemas();
        var tables = schemas.ConvertAll(Mend);
        MoveUnnamed(schemas);
        ReserveNumbers(schemas);
        foreach (var (hex, tree) in _trees)
            _names.TryAdd(tree, TableLabels.Of(Convert.FromHexString(hex), schemas));
        return report with
        {
            Tables = tables,
            Trees = [.. findings.Trees.Select(tree => tree.ToReport() with { Name = _names.GetValueOrDefault(tree, tree.Name) })],
        };
    }

    // An entry that is not a schema, or repeats the number of another one, cannot be opened.
    private List<TableSchema> TakeSchemas()
    {
        var schemas = new List<TableSchema>();
        using var writing = environment.BeginWrite();
        if (writing.FindSystemTree(SystemTree.Schemas) is not { } tree)
            return schemas;
        var unfit = new List<byte[]>();
        foreach (var entry in tree.Prefix(SchemaKeys.Tables))
        {
            if (TryParse(entry, out var schema) && !schemas.Exists(other => other.Id == schema!.Id))
                schemas.Add(schema!);
            else
                unfit.Add(entry.Key.ToArray());
        }

        foreach (var key in unfit)
            tree.Delete(key);
        SharedSalvage.RemoveUnknown(tree, schemas);
        writing.Commit();
        return schemas;
    }

    private static bool TryParse(TreeEntry entry, out TableSchema? schema)
    {
        try
        {
            schema = TableSchema.Parse(SchemaKeys.TableName(entry.Key), entry.Value, "");
            return SchemaKeys.Table(schema.Name).AsSpan().SequenceEqual(entry.Key);
        }
        catch (Exception e) when (e is CorruptionException or ArgumentException)
        {
            schema = null;
            return false;
        }
    }

    private SalvagedTable Mend(TableSchema schema)
    {
        stop.ThrowIfCancellationRequested();
        var areRowsWhole = IsWhole(SystemTree.RowsName(schema.Id));
        var isKeyWhole = schema.HasRowIdKeys || IsWhole(SystemTree.IndexName(schema.Id, IndexSchema.PrimaryKey, isUnique: true));
        var toBuild = schema.Indexes
            .Where(index => index.Id != IndexSchema.PrimaryKey && !(areRowsWhole && IsWhole(schema, index))).ToList();
        using (var writing = environment.BeginWrite())
        {
            writing.CreateSystemTree(SystemTree.RowsName(schema.Id));
            if (!schema.HasRowIdKeys)
                writing.CreateSystemTree(SystemTree.IndexName(schema.Id, IndexSchema.PrimaryKey, isUnique: true));
            writing.Commit();
        }

        var (keys, dangling, lastId) = areRowsWhole && isKeyWhole || schema.HasRowIdKeys ? (0, 0, -1) : LeaveOutKeys(schema);
        var rows = Finish(schema, toBuild, lastId);
        return new SalvagedTable
        {
            Name = schema.Name,
            Rows = rows,
            KeysWithoutRow = dangling,
            RowsWithoutKey = areRowsWhole && isKeyWhole || schema.HasRowIdKeys ? 0 : Math.Max(0, rows - keys),
            IndexesToBuild = [.. toBuild.Select(index => index.Name)],
        };
    }

    // In an unproven state, no entry is proven: rows and indexes of different moments do not match each other.
    private bool IsWhole(byte[] name) => _trees.TryGetValue(Convert.ToHexString(name), out var tree) && tree.IsWhole;

    private bool IsWhole(TableSchema schema, IndexSchema index) =>
        IsWhole(index.TreeName(schema.Id)) && (index.Shared == null || IsWhole([.. SystemTree.Schemas]));

    // Removes the primary keys of lost rows. Returns the numbers of remaining and of removed keys, and the highest row id.
    private (long Keys, long Dangling, long LastId) LeaveOutKeys(TableSchema schema)
    {
        var name = SystemTree.IndexName(schema.Id, IndexSchema.PrimaryKey, isUnique: true);
        var (keys, dangling, lastId) = (0L, 0L, -1L);
        using var reading = environment.BeginRead();
        if (!reading.TryFindTree(name, out Tree index) || !reading.TryFindTree(SystemTree.RowsName(schema.Id), out Tree rows))
            return (0, 0, -1);
        var batch = new List<byte[]>();
        foreach (var entry in index.GetEntries())
        {
            if (RowIdBytes.TryRead(entry.Value, out var rowId))
                lastId = Math.Max(lastId, rowId);
            if (rows.Contains(entry.Value))
            {
                keys++;
                continue;
            }

            dangling++;
            batch.Add(entry.Key.ToArray());
            if (batch.Count == DeletedTogether)
                Delete(name, batch);
        }

        Delete(name, batch);
        return (keys, dangling, lastId);
    }

    private void Delete(byte[] name, List<byte[]> keys)
    {
        stop.ThrowIfCancellationRequested();
        if (keys.Count == 0)
            return;
        using var writing = environment.BeginWrite();
        var tree = writing.CreateSystemTree(name);
        foreach (var key in keys)
            tree.Delete(key);
        writing.Commit();
        keys.Clear();
    }

    // Empties the indexes that are to be built. Returns the number of rows.
    private long Finish(TableSchema schema, List<IndexSchema> toBuild, long lastId)
    {
        using var writing = environment.BeginWrite();
        _ = new SystemTreeAccess(writing).TryOpen(SystemTree.RowsName(schema.Id), out Tree rows);
        var schemas = writing.FindSystemTree(SystemTree.Schemas)!.Value;
        var stored = TableSequences.NextOfTable(schemas, SchemaKeys.NextRow(schema.Id));
        var behindRows = TableSequences.BehindLastRow(rows);
        var next = Math.Max(Math.Max(stored, behindRows), lastId + 1);
        if (next > behindRows && next != stored)
            TableSequences.SaveNextOfTable(schemas, SchemaKeys.NextRow(schema.Id), next);

        var mended = schema;
        foreach (var index in toBuild)
        {
            var place = index.Shared;
            if (place != null)
            {
                place = _shared.Prepare(writing, schema.Name, index, IsWhole(schema, index));
            }
            else
            {
                writing.DeleteSystemTree(index.TreeName(schema.Id));
                TableCreation.CreateTree(writing, schema, index);
            }

            mended = mended.With(
                index with { Shared = place, State = IndexState.Building, Cursor = 0, Limit = next, FailedKey = [], FailedRows = default });
        }

        if (toBuild.Count > 0)
            schemas.Put(SchemaKeys.Table(schema.Name), mended.ToBytes());
        var count = rows.Count;
        writing.Commit();
        return count;
    }

    // Rows and indexes that no schema names.
    private void MoveUnnamed(List<TableSchema> schemas)
    {
        using var writing = environment.BeginWrite();
        var named = schemas.SelectMany(schema => schema.Indexes.Select(index => index.TreeName(schema.Id)).Append(SystemTree.RowsName(schema.Id)))
            .Select(Convert.ToHexString).Append(Convert.ToHexString(SystemTree.Schemas)).ToHashSet();
        foreach (var (hex, tree) in _trees.Where(tree => !named.Contains(tree.Key)))
        {
            var name = $"{Extraction.LostAndFound}/{tree.Name}";
            while (writing.GetTreeNames().Contains(name))
                name += "~";
            writing.Body.RenameTree(Convert.FromHexString(hex), Encoding.UTF8.GetBytes(name));
            _names[tree] = name;
        }

        writing.Commit();
    }

    // The number of a table is never reused, even if the table is lost.
    private void ReserveNumbers(List<TableSchema> schemas)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateSystemTree(SystemTree.Schemas);
        var used = schemas.Select(schema => (int)schema.Id)
            .Concat(schemas.SelectMany(schema => schema.Indexes).Select(index => (int)(index.Shared?.Number ?? 0)))
            .Concat(_trees.Keys.Select(Convert.FromHexString).Where(name => name.Length > SystemTree.Schemas.Length)
                .Select(name => (int)BinaryPrimitives.ReadUInt16BigEndian(name.AsSpan(SystemTree.Schemas.Length))));
        var next = Math.Min(used.DefaultIfEmpty().Max() + 1, ushort.MaxValue);
        if (next > TableSequences.NextTable(tree))
            TableSequences.SaveNextTable(tree, (ushort)next);
        writing.Commit();
    }
}
