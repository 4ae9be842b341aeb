namespace Voron.Tables;

/// <summary>Deletes expired rows.</summary>
public static class TableExpiry
{
    /// <summary>
    /// Deletes the expired rows of a table and their index keys, in steps of 256 rows that are merged with the writes of other callers. A feed
    /// records the deletions.
    /// </summary>
    /// <remarks>
    /// The environment does the same in the background when the program writes to the table, at most once a minute, unless
    /// <see cref="StorageOptions.BackgroundFlush"/> is off. A row whose deletion fails, because a function of the definition throws for it, is
    /// skipped: the call deletes the others, and throws the first failure at its end.
    /// </remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="definition">The definition of the table, with <see cref="TableDefinition{TKey, TRow}.Expire"/>.</param>
    /// <param name="cancellationToken">Ends the call between two steps, or its wait for one. What was deleted stays deleted.</param>
    /// <returns>The number of rows deleted. Rows that expire during the call may remain.</returns>
    /// <exception cref="ArgumentException">The definition has no expiry function.</exception>
    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    /// <exception cref="IndexNotReadyException">
    /// Not all rows have expiry times yet: call <see cref="TableEvolution.EvolveAsync{TKey, TRow}"/>, or wait for it to end.
    /// </exception>
    /// <exception cref="SchemaMismatchException">The definition must not write to the table.</exception>
    /// <exception cref="IndexKeyException">The function of an index threw for a row, so its keys could not be removed.</exception>
    /// <exception cref="RowFormatException">The codec cannot read a row.</exception>
    /// <exception cref="CorruptionException">A page is damaged, or the expiry index names a row that does not exist or has another time.</exception>
    /// <exception cref="StorageFullException">There is no space left, or too many operations are waiting.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ArgumentNullException">The environment or the definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<long> DeleteExpiredAsync<TKey, TRow>(
        this StorageEnvironment environment, TableDefinition<TKey, TRow> definition, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(definition);
        if (definition.Functions.ExpirySlot < 0)
        {
            throw new ArgumentException(
                $"The definition of table '{definition.Name}' has no expiry function: add one with {nameof(definition.Expire)}.", nameof(definition));
        }

        return DeleteExpiredAsync(environment, definition.Functions, cancellationToken);
    }

    private static async ValueTask<long> DeleteExpiredAsync(StorageEnvironment environment, TableFunctions functions, CancellationToken stop)
    {
        _ = environment.RequireWritable(nameof(DeleteExpiredAsync));
        var now = (environment.Options.TimeProvider ?? TimeProvider.System).GetUtcNow();
        var sweep = new ExpirySweep(now, environment.BeginRead, environment.WriteAsync, functions);
        return await sweep.RunAsync(stop).ConfigureAwait(false);
    }
}
