namespace Voron.Tables;

/// <summary>Deletes expired rows.</summary>
public static class TableExpiry
{
    /// <summary>
    /// Deletes the expired rows of a table, with the keys in its indexes, in steps of 256 rows that are merged with the writes
    /// of other callers; a feed records the deletions.
    /// </summary>
    /// <remarks>
    /// The environment does the same in the background when the program writes to the table, at most once a minute, unless
    /// <see cref="StorageOptions.BackgroundFlush"/> is off. A row whose deletion fails, because a function of the definition throws for it, is
    /// left out: the call deletes the others, and throws the first failure at its end.
    /// </remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="definition">The definition of the table, with <see cref="TableDefinition{TKey, TRow}.Expire"/>.</param>
    /// <param name="cancellationToken">Ends the call between two steps, or its wait for one. What was deleted stays deleted.</param>
    /// <returns>The number of rows deleted. Rows that expire during the call may be left.</returns>
    /// <exception cref="ArgumentException">The definition does not say when rows expire.</exception>
    /// <exception cref="KeyNotFoundException">There is no such table.</exception>
    /// <exception cref="IndexNotReadyException">
    /// Not all rows have their times: <see cref="TableEvolution.EvolveAsync{TKey, TRow}"/> has to be called, or to end.
    /// </exception>
    /// <exception cref="SchemaMismatchException">The definition must not write to the table.</exception>
    /// <exception cref="IndexKeyException">The function of an index threw for a row, whose keys are needed to remove them.</exception>
    /// <exception cref="RowFormatException">The codec cannot read a row.</exception>
    /// <exception cref="CorruptionException">
    /// A page is damaged, or the index of the times names a row that does not exist or has another time.
    /// </exception>
    /// <exception cref="StorageFullException">There is no room, or too many operations are waiting.</exception>
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
                $"The definition of table '{definition.Name}' does not say when rows expire: {nameof(definition.Expire)} adds the time.", nameof(definition));
        }

        return DeleteExpiredAsync(environment, definition.Functions, cancellationToken);
    }

    private static async ValueTask<long> DeleteExpiredAsync(StorageEnvironment environment, TableFunctions functions, CancellationToken stop)
    {
        environment.ThrowIfCannotQueue(nameof(DeleteExpiredAsync));
        var now = (environment.Options.TimeProvider ?? TimeProvider.System).GetUtcNow();
        var sweep = new ExpirySweep(now, environment.BeginRead, environment.WriteAsync, functions);
        return await sweep.RunAsync(stop).ConfigureAwait(false);
    }
}
