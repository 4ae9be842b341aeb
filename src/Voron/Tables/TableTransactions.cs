using Voron.Trees;

namespace Voron.Tables;

/// <summary>Opens the tables of a transaction.</summary>
public static class TableTransactions
{
    /// <summary>Opens a table, or creates it with all indexes of its definition if it does not exist.</summary>
    /// <remarks>
    /// The first table of an environment raises its format: older engines can no longer open it, even if the transaction is rolled back.
    /// </remarks>
    /// <param name="transaction">The transaction.</param>
    /// <param name="definition">The definition. Its name is the name of the table; a tree may have the same name.</param>
    /// <exception cref="SchemaMismatchException">The table has keys of another kind.</exception>
    /// <exception cref="StorageFullException">
    /// There is no space left, or all 65,534 table numbers, or all 32,767 member numbers of a shared index, have been used.
    /// </exception>
    /// <exception cref="ArgumentNullException">The definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static WriteTable<TKey, TRow> CreateTable<TKey, TRow>(this WriteTransaction transaction, TableDefinition<TKey, TRow> definition)
    {
        if (transaction.TryOpenTable(definition, out var table))
            return table;
        TableCreation.Create(transaction, definition.Functions);
        return transaction.OpenTable(definition);
    }

    /// <summary>Opens a table.</summary>
    /// <remarks>
    /// The first write transaction of an environment that opens a table compares the keys of its first and last row, and of 64 rows between them,
    /// with its indexes.
    /// </remarks>
    /// <param name="transaction">The transaction.</param>
    /// <param name="definition">The definition.</param>
    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    /// <exception cref="SchemaMismatchException">The table has keys of another kind.</exception>
    /// <exception cref="IndexMismatchException">
    /// In a write transaction: the function of an index returns other keys than the index contains.
    /// </exception>
    /// <exception cref="CorruptionException">The schema of the table is damaged, or one of its trees is missing.</exception>
    /// <exception cref="ArgumentNullException">The definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static WriteTable<TKey, TRow> OpenTable<TKey, TRow>(this WriteTransaction transaction, TableDefinition<TKey, TRow> definition) =>
        transaction.TryOpenTable(definition, out var table) ? table : throw Missing(definition.Name, transaction.DataFilePath);

    /// <summary>Opens a table; false if it does not exist.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="definition">The definition.</param>
    /// <param name="table">The table; a default value if it does not exist.</param>
    /// <inheritdoc cref="OpenTable{TKey, TRow}(WriteTransaction, TableDefinition{TKey, TRow})"/>
    public static bool TryOpenTable<TKey, TRow>(
        this WriteTransaction transaction, TableDefinition<TKey, TRow> definition, out WriteTable<TKey, TRow> table)
    {
        ArgumentNullException.ThrowIfNull(definition);
        var bound = BoundTable.Open(new SystemTreeAccess(transaction), definition.Functions);
        if (bound != null && bound.Sampled != bound.Binding)
            IndexSpotCheck.CheckOnce(bound, KnownTables.Of(transaction));
        table = bound == null ? default : new WriteTable<TKey, TRow>(new Table<TKey, TRow>(definition.Functions, bound.Rows));
        return bound != null;
    }

    /// <inheritdoc cref="OpenTable{TKey, TRow}(WriteTransaction, TableDefinition{TKey, TRow})"/>
    public static Table<TKey, TRow> OpenTable<TKey, TRow>(this ReadTransaction transaction, TableDefinition<TKey, TRow> definition) =>
        transaction.TryOpenTable(definition, out var table) ? table : throw Missing(definition.Name, transaction.DataFilePath);

    /// <inheritdoc cref="TryOpenTable{TKey, TRow}(WriteTransaction, TableDefinition{TKey, TRow}, out WriteTable{TKey, TRow})"/>
    public static bool TryOpenTable<TKey, TRow>(
        this ReadTransaction transaction, TableDefinition<TKey, TRow> definition, out Table<TKey, TRow> table)
    {
        ArgumentNullException.ThrowIfNull(definition);
        var bound = BoundTable.Open(new SystemTreeAccess(transaction), definition.Functions);
        table = bound == null ? default : new Table<TKey, TRow>(definition.Functions, bound.Rows);
        return bound != null;
    }

    /// <summary>Counts the compressed rows of a table, and their plain and stored bytes. Reads all leaf pages of the rows.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <param name="name">The name of the table.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    /// <exception cref="CorruptionException">The settings, a dictionary or a page of the table is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static CompressionStatistics GetTableCompressionStatistics(
        this ReadTransaction transaction, string name, CancellationToken cancellationToken = default)
    {
        var schema = new SystemTreeAccess(transaction).FindSchema(name, SchemaKeys.Table(name)) ?? throw Missing(name, transaction.DataFilePath);
        return transaction.TryFindTree(SystemTree.RowsName(schema.Id), out Tree rows)
            ? transaction.CountCompression(rows, cancellationToken)
            : throw new CorruptionException($"The rows of table '{name}' in '{transaction.DataFilePath}' are missing. Run Verify, or restore a backup.");
    }

    /// <summary>Deletes a table with its indexes, and frees their pages; false if it does not exist.</summary>
    /// <remarks>For large tables, <see cref="TableEvolution.DropTableAsync"/> does it in steps. The number of the table is not reused.</remarks>
    /// <param name="transaction">The transaction.</param>
    /// <param name="name">The name of the table.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static bool DeleteTable(this WriteTransaction transaction, string name) =>
        TableCreation.Delete(transaction, name, static (transaction, tree) => transaction.DeleteSystemTree(tree));

    /// <summary>Returns the names of all tables, in the order of their UTF-8 bytes.</summary>
    /// <param name="transaction">The transaction.</param>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static IReadOnlyList<string> GetTableNames(this ReadTransaction transaction) => ListNames(new SystemTreeAccess(transaction));

    /// <inheritdoc cref="GetTableNames(ReadTransaction)"/>
    public static IReadOnlyList<string> GetTableNames(this WriteTransaction transaction) => ListNames(new SystemTreeAccess(transaction));

    private static List<string> ListNames(SystemTreeAccess trees)
    {
        var names = new List<string>();
        if (!trees.TryOpen(SystemTree.Schemas, out Tree schemas))
            return names;
        foreach (var entry in schemas.Prefix(SchemaKeys.Tables))
            names.Add(SchemaKeys.TableName(entry.Key));
        return names;
    }

    private static KeyNotFoundException Missing(string name, string path) => new(
        $"There is no table '{name}' in '{path}'. {nameof(CreateTable)} creates one in a write transaction.");
}
