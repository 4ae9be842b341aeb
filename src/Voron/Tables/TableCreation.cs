using Voron.Trees;

namespace Voron.Tables;

/// <summary>Creates and drops tables and their trees.</summary>
internal static class TableCreation
{
    /// <summary>Creates a table, which must not exist yet, with all indexes of its definition.</summary>
    /// <exception cref="StorageFullException">All table numbers have been used.</exception>
    public static void Create(WriteTransaction transaction, TableFunctions functions)
    {
        var schema = NewSchema(transaction, functions.Name, functions.Version, functions.KeyCodecName, out var schemas);

        // A shared index that accepts no more tables throws after other indexes have been created.
        try
        {
            Compress(transaction, CreateRows(transaction, schema), functions);
            foreach (var shape in functions.Slots)
                schema = AddIndex(transaction, schema, shape, limit: 0);
            schemas.Put(functions.SchemaKey, schema.ToBytes());
        }
        catch (Exception e) when (transaction.Break(e))
        {
            throw;
        }
    }

    /// <summary>Creates a table, which must not exist yet, with only the primary key: for rows that are added with their ids and keys.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="name">The name.</param>
    /// <param name="version">The version of the definition that the table gets.</param>
    /// <param name="keyCodec">The name of the key codec; null if rows are keyed by their ids.</param>
    /// <exception cref="ArgumentException">The name is not valid for a table.</exception>
    /// <exception cref="StorageFullException">All table numbers have been used.</exception>
    public static TableSchema CreateEmpty(WriteTransaction transaction, string name, int version, string? keyCodec)
    {
        var key = SchemaKeys.Table(name);
        var schema = NewSchema(transaction, name, version, keyCodec, out var schemas);
        CreateRows(transaction, schema);
        if (keyCodec != null)
            schema = AddIndex(transaction, schema, new IndexDefinition("", 0, IsUnique: true), limit: 0);
        schemas.Put(key, schema.ToBytes());
        return schema;
    }

    private static TableSchema NewSchema(WriteTransaction transaction, string name, int version, string? keyCodec, out WriteTree schemas)
    {
        schemas = transaction.CreateSystemTree(SystemTree.Schemas);
        return new TableSchema
        {
            Name = name,
            Id = TableSequences.TakeTable(schemas, transaction.DataFilePath),
            Version = version,
            HasRowIdKeys = keyCodec == null,
            KeyCodecName = keyCodec ?? "",
            NextIndexId = (ushort)(IndexSchema.PrimaryKey + 1),
            Indexes = [],
        };
    }

    private static WriteTree CreateRows(WriteTransaction transaction, TableSchema schema) =>
        transaction.CreateSystemTree(SystemTree.RowsName(schema.Id));

    /// <summary>Adds an index to a schema, and creates its tree.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="schema">The schema, which the caller saves.</param>
    /// <param name="shape">The index.</param>
    /// <param name="limit">The row id below which the index lacks rows; 0 if it lacks none.</param>
    /// <exception cref="StorageFullException">All index numbers of the table have been used.</exception>
    public static TableSchema AddIndex(WriteTransaction transaction, TableSchema schema, IndexDefinition shape, long limit)
    {
        if (schema.NextIndexId == ushort.MaxValue)
        {
            throw new StorageFullException(
                $"The table '{schema.Name}' has used all index numbers, and reuses none. Copy its rows into another table.");
        }

        var isPrimaryKey = shape.Name.Length == 0;
        var index = new IndexSchema
        {
            Id = isPrimaryKey ? IndexSchema.PrimaryKey : schema.NextIndexId,
            Name = shape.Name,
            Version = shape.Version,
            IsUnique = shape.IsUnique,
            IsExpiry = shape.IsExpiry,
            Shared = shape.IsShared ? SharedMembers.Enter(transaction, shape, schema.Name) : null,
            State = limit == 0 ? IndexState.Ready : IndexState.Building,
            Limit = limit,
        };
        CreateTree(transaction, schema, index);
        return schema with
        {
            NextIndexId = isPrimaryKey ? schema.NextIndexId : (ushort)(schema.NextIndexId + 1),
            Indexes = [.. schema.Indexes, index],
        };
    }

    /// <summary>Creates the tree of an index.</summary>
    public static void CreateTree(WriteTransaction transaction, TableSchema schema, IndexSchema index)
    {
        if (index.IsUnique)
            transaction.CreateSystemTree(index.TreeName(schema.Id));
        else
            transaction.CreateSystemIdTree(index.TreeName(schema.Id));
    }

    /// <summary>Sets the compression of new rows, if the definition specifies one.</summary>
    public static void Compress(WriteTransaction transaction, WriteTree rows, TableFunctions functions)
    {
        if (functions.Compression is { } wanted && wanted != transaction.GetCompression(rows))
            transaction.SetCompression(rows, wanted);
    }

    /// <summary>Deletes a table; false if it does not exist.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="name">The name of the table.</param>
    /// <param name="deleteTree">Deletes a tree.</param>
    public static bool Delete(WriteTransaction transaction, string name, Action<WriteTransaction, byte[]> deleteTree)
    {
        var key = SchemaKeys.Table(name);
        if (transaction.FindSystemTree(SystemTree.Schemas) is not { } schemas || !schemas.TryGet(key, out var bytes))
            return false;
        var schema = TableSchema.Parse(name, bytes, transaction.DataFilePath);
        schemas.Delete(key);
        schemas.Delete(SchemaKeys.NextRow(schema.Id));
        schemas.Delete(SchemaKeys.NextVersion(schema.Id));
        schemas.Delete(SchemaKeys.Before(schema.Id));
        deleteTree(transaction, SystemTree.RowsName(schema.Id));
        foreach (var index in schema.Indexes)
        {
            if (index.Shared == null || SharedMembers.Leave(transaction, index))
                deleteTree(transaction, index.TreeName(schema.Id));
        }

        KnownTables.Of(transaction).OnDeleted(name);
        return true;
    }
}
