namespace Voron.Tables;

/// <summary>Verifies that the indexes of a table agree with its rows.</summary>
public static class TableVerification
{
    /// <summary>
    /// Reads all rows of a table, computes their keys, and compares them with the indexes in both directions. Reads a snapshot, so others can
    /// continue to write. <see cref="StorageEnvironment.Verify"/> checks pages and trees, but does not know the functions of a definition.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    /// <exception cref="SchemaMismatchException">The table has keys of another kind.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ArgumentNullException">The environment or the definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public static TableVerificationReport VerifyTable<TKey, TRow>(this StorageEnvironment environment, TableDefinition<TKey, TRow> definition)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(definition);
        using var reading = environment.BeginRead();
        return Verify(reading, definition);
    }

    /// <summary>Verifies a table in a snapshot of the caller.</summary>
    /// <param name="transaction">The snapshot.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <inheritdoc cref="VerifyTable{TKey, TRow}(StorageEnvironment, TableDefinition{TKey, TRow})"/>
    public static TableVerificationReport VerifyTable<TKey, TRow>(this ReadTransaction transaction, TableDefinition<TKey, TRow> definition)
    {
        ArgumentNullException.ThrowIfNull(definition);
        return Verify(transaction, definition);
    }

    private static TableVerificationReport Verify<TKey, TRow>(ReadTransaction reading, TableDefinition<TKey, TRow> definition)
    {
        return new TableChecker(reading.OpenTable(definition).Bound).Run(reading.TransactionId);
    }
}
