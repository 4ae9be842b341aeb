using Voron.Testing;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>Evolves tables to the definitions of a new program, and drops tables.</summary>
public static class TableEvolution
{
    /// <summary>
    /// Evolves a table to its definition: creates it if it does not exist, drops the indexes that the definition lacks, builds those that it adds or
    /// contains in another version, and raises the version of the table. Call it when the program starts.
    /// </summary>
    /// <remarks>
    /// <para>
    /// Indexes are built while others read and write. A new index answers queries once it is ready, and rejects no write before. Other writers wait
    /// no longer than the time in <see cref="EvolveOptions.MaxHold"/>, or somewhat more at the end. For a table of 10,000 rows and more, keys are
    /// sorted in memory and in a temporary file, and one commit makes the indexes ready: after a cancellation or a crash, the next call begins again.
    /// Indexes of smaller tables, the expiry index, and indexes shared with other tables that have rows, are built in steps, each of them a separate
    /// transaction, after which the next call continues.
    /// </para>
    /// <para>
    /// Rows are read before anything is changed: the call fails if two rows have the same key in a new unique index, or if a sample of 66 rows has
    /// other keys in the kept indexes than their functions return. If it fails for a row later, because a writer has added it meanwhile or a function
    /// refuses it, the table returns to its previous version, without the new indexes. In both cases, the old program can continue.
    /// </para>
    /// <para>
    /// Only a definition of a higher version, or <see cref="DropIndexAsync"/>, drops indexes. Programs with the old definition can still read, but no
    /// longer write. Pages of dropped indexes are freed in the background. At its end, the call removes from shared indexes the row ids of tables
    /// that were dropped or no longer use these indexes.
    /// </para>
    /// </remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="definition">The definition.</param>
    /// <param name="progress">Receives the progress after each step.</param>
    /// <param name="options">The limits of a step, and the memory for sorting; null for the defaults.</param>
    /// <param name="cancellationToken">Ends the call after the current step.</param>
    /// <exception cref="DuplicateKeyException">
    /// Two rows have the same key in a new unique index. <see cref="CheckAsync"/> lists all such rows.
    /// </exception>
    /// <exception cref="IndexMismatchException">The function of a kept index returns other keys than the index contains.</exception>
    /// <exception cref="SchemaMismatchException">
    /// The table has keys of another kind, or a newer version, or an index that the definition of the same version lacks; or another call has
    /// dropped an index that this one was building.
    /// </exception>
    /// <exception cref="RowFormatException">The codec cannot read a row.</exception>
    /// <exception cref="IndexKeyException">The function of an index failed for a row.</exception>
    /// <exception cref="StorageFullException">There is no space left.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory for sorting.</exception>
    /// <exception cref="StorageAccessException">The temporary file, or pages of an index, could not be written.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ArgumentNullException">The environment or the definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<EvolveReport> EvolveAsync<TKey, TRow>(
        this StorageEnvironment environment, TableDefinition<TKey, TRow> definition, IProgress<EvolveProgress>? progress = null,
        EvolveOptions? options = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(definition);
        return EvolveAsync(environment, definition.Functions, progress, options ?? new EvolveOptions(), cancellationToken);
    }

    /// <summary>Reads all rows of a table with its new definition, and lists the rows that the definition would refuse. Writes nothing.</summary>
    /// <remarks>
    /// It finds rows that the codec or an index function refuses, rows that share a key in a unique index that is not built yet, and rows whose keys
    /// in a kept index differ from those of its function. Run it with the new program before it is rolled out. Rows that change during the call may
    /// be read before or after the change.
    /// </remarks>
    /// <param name="environment">The environment, which may be read-only.</param>
    /// <param name="definition">The definition.</param>
    /// <param name="cancellationToken">Ends the call.</param>
    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    /// <exception cref="SchemaMismatchException">The table has keys of another kind.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="StorageFullException">There is no space for the temporary file in which keys of new unique indexes are sorted.</exception>
    /// <exception cref="StorageAccessException">That file cannot be written.</exception>
    /// <exception cref="StorageMemoryException">There is not enough memory for sorting.</exception>
    /// <exception cref="ArgumentNullException">The environment or the definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static async ValueTask<TableCheckReport> CheckAsync<TKey, TRow>(
        this StorageEnvironment environment, TableDefinition<TKey, TRow> definition, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(definition);
        using var check = new DefinitionCheck(environment, definition.Functions, cancellationToken);
        return await Task.Run(check.Run, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Drops an index of a table immediately and durably, and frees its pages in the background; false if the table or the index does not exist.
    /// Programs whose definition contains the index continue without it, until <see cref="EvolveAsync{TKey, TRow}"/> builds it again.
    /// </summary>
    /// <remarks>The ids of the table are removed from a shared index as described for <see cref="DropTableAsync"/>.</remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="table">The name of the table.</param>
    /// <param name="index">The name of the index.</param>
    /// <param name="cancellationToken">Cancels the wait for the writer, or ends the removal from a shared index.</param>
    /// <exception cref="ArgumentException">A name is empty, too long, or not valid text.</exception>
    /// <exception cref="StorageFullException">There is no space left.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ArgumentNullException">The environment is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled; nothing was dropped.</exception>
    public static async ValueTask<bool> DropIndexAsync(
        this StorageEnvironment environment, string table, string index, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        SchemaKeys.CheckName(index, "an index");
        using var writing = await environment.BeginWriteAsync(cancellationToken).ConfigureAwait(false);
        if (SchemaPlan.DropIndex(writing, table, index) is not { } leavesPages)
            return false;
        await writing.CommitAsync(CancellationToken.None).ConfigureAwait(false);
        await FinishDropAsync(environment, leavesPages, cancellationToken).ConfigureAwait(false);
        return true;
    }

    /// <summary>
    /// Drops a table immediately and durably, and frees the pages of its rows and indexes in steps in the background; false if it does not exist. A
    /// table of the same name can be created as soon as the call has returned.
    /// </summary>
    /// <remarks>
    /// If the table shares an index with others, the call then removes its ids from the index in steps of 2 ms. Queries do not return them meanwhile.
    /// If the removal is cancelled or fails, the table is still dropped, and the next call of this method or of <see cref="EvolveAsync{TKey, TRow}"/>
    /// for any table continues the removal.
    /// </remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="name">The name of the table.</param>
    /// <param name="cancellationToken">Cancels the wait for the writer, or ends the removal from shared indexes.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="StorageFullException">There is no space left.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ArgumentNullException">The environment is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled; nothing was dropped.</exception>
    public static async ValueTask<bool> DropTableAsync(
        this StorageEnvironment environment, string name, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        using var writing = await environment.BeginWriteAsync(cancellationToken).ConfigureAwait(false);
        if (!TableCreation.Delete(writing, name, static (transaction, tree) => transaction.DropSystemTree(tree)))
            return false;
        await writing.CommitAsync(CancellationToken.None).ConfigureAwait(false);
        await FinishDropAsync(environment, leavesPages: true, cancellationToken).ConfigureAwait(false);
        return true;
    }

    /// <summary>
    /// Restores the lost primary keys of rows, which a salvage reports: scans return these rows, but lookups by key do not find them. Call it before
    /// <see cref="EvolveAsync{TKey, TRow}"/>, which refuses such a table.
    /// </summary>
    /// <remarks>
    /// It reads all rows in steps of 2 ms, while others read and write. After a cancellation or a crash, the next call skips the restored keys. If
    /// another row has the key, both rows remain unchanged, and the report names them: <see cref="Table{TKey, TRow}.TryGetByRowId"/> reads the one
    /// that its key does not find.
    /// </remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <param name="cancellationToken">Ends the call between two steps.</param>
    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    /// <exception cref="SchemaMismatchException">The definition does not fit the table.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="StorageFullException">There is no space left.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ArgumentNullException">The environment or the definition is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<RebuildKeysReport> RebuildKeysAsync<TKey, TRow>(
        this StorageEnvironment environment, TableDefinition<TKey, TRow> definition, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(definition);
        return new KeyRebuild(environment, definition.Functions, cancellationToken).RunAsync();
    }

    /// <summary>
    /// Rewrites the rows of a table with the compression of new rows, in short transactions while others write, as
    /// <see cref="StorageEnvironment.RecompressAsync"/> does for the values of a tree.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="name">The name of the table.</param>
    /// <param name="cancellationToken">Ends the call between two of its transactions. Rewritten rows remain rewritten.</param>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="KeyNotFoundException">The table does not exist.</exception>
    /// <exception cref="CorruptionException">A page or a row of the table is damaged. The message names it.</exception>
    /// <exception cref="StorageFullException">There is no space left.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="ArgumentNullException">The environment is null.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static ValueTask<RecompressionReport> RecompressTableAsync(
        this StorageEnvironment environment, string name, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        _ = environment.RequireWritable(nameof(RecompressTableAsync));
        var key = SchemaKeys.Table(name);
        byte[] rows;
        using (var reading = environment.BeginRead())
        {
            var schema = new SystemTreeAccess(reading).FindSchema(name, key)
                ?? throw new KeyNotFoundException($"The table '{name}' does not exist in '{environment.Path}': no rows were recompressed.");
            rows = SystemTree.RowsName(schema.Id);
        }

        return environment.RecompressNamedAsync($"table {name}", rows, cancellationToken);
    }

    private static async ValueTask FinishDropAsync(StorageEnvironment environment, bool leavesPages, CancellationToken stop)
    {
        if (leavesPages)
            environment.FreeDroppedTrees();
        try
        {
            await FormerMembers.RemoveIdsAsync(environment, new EvolveOptions().MaxHold, stop).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            // The drop is complete. The next call removes the remaining ids.
        }
    }

    private static async ValueTask<EvolveReport> EvolveAsync(
        StorageEnvironment environment, TableFunctions functions, IProgress<EvolveProgress>? progress, EvolveOptions options, CancellationToken stop)
    {
        Check(environment, functions, stop);
        var (isCreated, leavesPages, dropped, built) = (false, false, new List<string>(), new List<string>());
        SortedIndexBuild? sorted = null;
        using (var writing = await environment.BeginWriteAsync(stop).ConfigureAwait(false))
        {
            isCreated = BoundTable.Open(new SystemTreeAccess(writing), functions) == null;
            if (isCreated)
            {
                TableCreation.Create(writing, functions);
                built.AddRange(functions.Slots.Select(slot => slot.Name).Where(name => name.Length > 0));
            }
            else
            {
                (var ready, leavesPages) = SchemaPlan.Apply(writing, functions, dropped);
                built.AddRange(ready);
                sorted = SortedIndexBuild.TryBegin(environment, writing, functions, options, stop);
            }

            await CommitAsync(writing, sorted).ConfigureAwait(false);
        }

        var rows = 0L;
        var pace = new StepPace(options.MaxHold);
        try
        {
            using (sorted)
            {
                if (leavesPages)
                    environment.FreeDroppedTrees();
                built.AddRange(sorted == null ? [] : await sorted.RunAsync(progress).ConfigureAwait(false));
                rows = sorted?.Rows ?? 0;
            }

            while (await StepAsync(environment, functions, options, pace, stop).ConfigureAwait(false) is { } step)
            {
                rows += step.Rows;
                built.AddRange(step.Ready);
                progress?.Report(new EvolveProgress(step.Indexes, rows, step.Cursor, step.Limit));
            }
        }
        catch (TableException e) when (e is not SchemaMismatchException && !PlantedFault.KeepRaisedVersion)
        {
            await WithdrawAsync(environment, functions).ConfigureAwait(false);
            throw;
        }

        await FormerMembers.RemoveIdsAsync(environment, options.MaxHold, stop).ConfigureAwait(false);

        return new EvolveReport(isCreated, built, dropped, rows);
    }

    // Called before anything is changed. The builder checks the rows that writers add meanwhile.
    private static void Check(StorageEnvironment environment, TableFunctions functions, CancellationToken stop)
    {
        using (var reading = environment.BeginRead())
        {
            if (BoundTable.Open(new SystemTreeAccess(reading), functions) is not { } bound || functions.Version < bound.Schema.Version)
                return;
            IndexSpotCheck.Check(bound, reading.TransactionId, mustRead: functions.Version > bound.Schema.Version);
        }

        using var check = new DefinitionCheck(environment, functions, stop);
        check.RunUnique();
    }

    private static async ValueTask WithdrawAsync(StorageEnvironment environment, TableFunctions functions)
    {
        try
        {
            using var writing = await environment.BeginWriteAsync(CancellationToken.None).ConfigureAwait(false);
            var leavesPages = SchemaPlan.Withdraw(writing, functions);
            await writing.CommitAsync(CancellationToken.None).ConfigureAwait(false);
            if (leavesPages)
                environment.FreeDroppedTrees();
        }
        catch (Exception e) when (e is VoronException or ObjectDisposedException)
        {
            // The caller gets the first failure. The next call continues from the stored state.
        }
    }

    private static async ValueTask CommitAsync(WriteTransaction writing, SortedIndexBuild? build)
    {
        try
        {
            await writing.CommitAsync(CancellationToken.None).ConfigureAwait(false);
        }
        catch
        {
            build?.Dispose();
            throw;
        }
    }

    private static async ValueTask<IndexStep?> StepAsync(
        StorageEnvironment environment, TableFunctions functions, EvolveOptions options, StepPace pace, CancellationToken stop)
    {
        using var writing = await environment.BeginWriteAsync(stop).ConfigureAwait(false);
        pace.Begin();
        var bound = IndexBuilder.Open(new SystemTreeAccess(writing), functions);
        var step = IndexBuilder.Step(bound, options, pace.ReadingTime);
        if (step == null)
        {
            ThrowIfUnfinished(bound, functions);
            return null;
        }

        // The writer is free once the record has been submitted, before the task completes.
        pace.EndReading();
        var commit = writing.CommitAsync(CancellationToken.None);
        pace.End();
        await commit.ConfigureAwait(false);
        return step;
    }

    private static void ThrowIfUnfinished(BoundTable bound, TableFunctions functions)
    {
        for (var slot = 0; slot < bound.Binding.Slots.Length; slot++)
        {
            var name = functions.Slots[slot].Name;
            if (bound.Binding.Slots[slot] is not { } index)
            {
                throw new SchemaMismatchException(
                    functions.Name, $"The index '{name}' of table '{functions.Name}' was dropped by another call while it was being built.");
            }

            if (index.State == IndexState.Failed)
            {
                var (first, second) = index.FailedRows;
                throw new DuplicateKeyException(functions.Name, name, index.FailedKey, second, first, functions.Slots[slot].KeyType);
            }
        }
    }
}

/// <summary>The result of <see cref="TableEvolution.EvolveAsync"/>.</summary>
/// <param name="IsCreated">True if the table did not exist.</param>
/// <param name="Built">The names of the indexes that became ready.</param>
/// <param name="Dropped">The names of the dropped indexes, which the definition lacks or contains in another version.</param>
/// <param name="RowsRead">The number of rows read to build indexes.</param>
public sealed record EvolveReport(bool IsCreated, IReadOnlyList<string> Built, IReadOnlyList<string> Dropped, long RowsRead)
{
    /// <inheritdoc/>
    public override string ToString() =>
        $"{(IsCreated ? "table created" : "table existed")}, {Built.Count} indexes built from {RowsRead} rows, {Dropped.Count} dropped";
}
