using Voron.Format;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>Creates and drops tables and their trees.</summary>
internal static class TableCreation
{
    /// <summary>Creates a table, of which there is none, with all indexes of its definition.</summary>
    /// <exception cref="StorageFullException">All numbers of tables have been used.</exception>
    public static void Create(WriteTransaction transaction, TableFunctions functions)
    {
        var schemas = new WriteTree(transaction.CreateSystemTree(SystemTree.Schemas, TreeKind.Plain));
        var id = TakeTableId(schemas, transaction.DataFilePath);
        var schema = new TableSchema
        {
            Name = functions.Name,
            Id = id,
            Version = functions.Version,
            HasRowIdKeys = functions.KeyCodec == null,
            KeyCodec = functions.KeyCodec ?? "",
            NextIndexId = (ushort)(IndexSchema.PrimaryKey + 1),
            Indexes = [],
        };

        if (functions.KeyCodec != null)
            schema = Add(schema, new IndexShape("", 0, IsUnique: true), IndexSchema.PrimaryKey);
        foreach (var shape in functions.Slots.Where(slot => slot.Name.Length > 0))
            schema = Add(schema, shape, schema.NextIndexId) with { NextIndexId = (ushort)(schema.NextIndexId + 1) };
        Compress(transaction, transaction.CreateSystemTree(SystemTree.RowsName(schema.Id), TreeKind.Plain), functions);
        foreach (var index in schema.Indexes)
            CreateTree(transaction, schema, index);
        schemas.Put(functions.SchemaKey, schema.ToBytes());
    }

    /// <summary>Creates the tree of an index.</summary>
    public static void CreateTree(WriteTransaction transaction, TableSchema schema, IndexSchema index) =>
        transaction.CreateSystemTree(index.TreeName(schema.Id), index.IsUnique ? TreeKind.Plain : TreeKind.IdSets);

    /// <summary>Has new rows compressed as the definition says, if it says anything.</summary>
    public static void Compress(WriteTransaction transaction, OpenTree rows, TableFunctions functions)
    {
        if (functions.Compression is { } wanted && wanted != transaction.GetCompression(rows))
            transaction.SetCompression(rows, wanted);
    }

    /// <summary>Deletes a table; false when there is none of that name.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="name">The name of the table.</param>
    /// <param name="deleteTree">Deletes a tree.</param>
    public static bool Delete(WriteTransaction transaction, string name, Action<WriteTransaction, byte[]> deleteTree)
    {
        var key = SchemaKeys.Table(name);
        if (transaction.FindSystemTree(SystemTree.Schemas, TreeKind.Plain) is not { } open)
            return false;
        var schemas = new WriteTree(open);
        if (!schemas.TryGet(key, out var bytes))
            return false;
        var schema = TableSchema.Parse(name, bytes, transaction.DataFilePath);
        schemas.Delete(key);
        schemas.Delete(SchemaKeys.NextRow(schema.Id));
        deleteTree(transaction, SystemTree.RowsName(schema.Id));
        foreach (var index in schema.Indexes)
            deleteTree(transaction, index.TreeName(schema.Id));
        return true;
    }

    private static TableSchema Add(TableSchema schema, IndexShape shape, ushort id)
    {
        var index = new IndexSchema
        {
            Id = id,
            Name = shape.Name,
            Version = shape.Version,
            IsUnique = shape.IsUnique,
            IsExpiry = shape.IsExpiry,
            State = IndexState.Ready,
        };
        return schema with { Indexes = [.. schema.Indexes, index] };
    }

    private static ushort TakeTableId(WriteTree schemas, string path)
    {
        var id = SchemaNumbers.NextTable(schemas);
        if (id == ushort.MaxValue)
            throw new StorageFullException($"No table can be created: '{path}' has used all {ushort.MaxValue - 1} numbers of tables, and uses none twice.");
        SchemaNumbers.SaveNextTable(schemas, (ushort)(id + 1));
        return id;
    }
}
