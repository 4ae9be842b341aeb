using Voron.Loading;

namespace Voron.Tables;

/// <summary>Loads rows in bulk.</summary>
public static class TableLoading
{
    /// <summary>
    /// Loads rows from a sequence in any order into a table, which is created if it does not exist: into a new or an empty table all of them or none,
    /// otherwise in key order, in transactions of some megabytes.
    /// </summary>
    /// <remarks><inheritdoc cref="BeginBulkLoadAsync" path="/remarks/node()"/></remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <param name="rows">The rows. The sequence is read on a pool thread, with no lock held; an exception from it ends the load.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the load, until its last commit begins.</param>
    /// <exception cref="ArgumentNullException">The environment, the definition or the sequence is null.</exception>
    /// <exception cref="SchemaMismatchException">The definition does not fit the table.</exception>
    /// <inheritdoc cref="TableBulkLoad{TRow}.CompleteAsync"/>
    public static ValueTask<BulkLoadReport> BulkLoadAsync<TKey, TRow>(
        this StorageEnvironment environment, TableDefinition<TKey, TRow> definition, IEnumerable<TRow> rows, BulkLoadOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(rows);
        return LoadAsync(
            environment.BeginBulkLoadAsync(definition, options, cancellationToken),
            load =>
            {
                foreach (var row in rows)
                    load.Put(row);
                return Task.CompletedTask;
            },
            cancellationToken);
    }

    /// <summary>As the other overload, for an asynchronous sequence.</summary>
    /// <remarks><inheritdoc cref="BeginBulkLoadAsync" path="/remarks/node()"/></remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="definition">The definition of the table.</param>
    /// <param name="rows">The rows. An exception from the sequence ends the load. It is given the token.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the load, until its last commit begins.</param>
    /// <exception cref="ArgumentNullException">The environment, the definition or the sequence is null.</exception>
    /// <exception cref="SchemaMismatchException">The definition does not fit the table.</exception>
    /// <inheritdoc cref="TableBulkLoad{TRow}.CompleteAsync"/>
    public static ValueTask<BulkLoadReport> BulkLoadAsync<TKey, TRow>(
        this StorageEnvironment environment, TableDefinition<TKey, TRow> definition, IAsyncEnumerable<TRow> rows, BulkLoadOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(rows);
        return LoadAsync(
            environment.BeginBulkLoadAsync(definition, options, cancellationToken),
            async load =>
            {
                await foreach (var row in rows.WithCancellation(cancellationToken).ConfigureAwait(false))
                    load.Put(row);
            },
            cancellationToken);
    }

    /// <summary>Begins a load of rows in any order into a table, which the caller puts one after the other and then completes.</summary>
    /// <remarks>
    /// <para>
    /// A table that does not exist is created first, and remains if the load fails, without rows. In a new or an empty table, rows go to free pages
    /// of the data file, past the journal, and the keys of each index are sorted and then put into its tree; one short commit makes the table refer
    /// to those pages. Rows get their ids in order of arrival, unless these are their keys; all have the same version. Rows that are expired when the
    /// load begins are left out. The memory of the options is divided between the indexes, each of which takes a megabyte or so at least.
    /// </para>
    /// <para>
    /// A table that has rows, is recorded in a feed, or shares an index that has ids, is filled by transactions of some megabytes instead, in the
    /// order of the primary keys: what a crash or a failure leaves is the beginning in that order, and loading again is right. So is a table with an
    /// index that is being built or has failed. The row codec reads each of these rows once more, in such a transaction: with
    /// <see cref="RowReader.RowId"/> -1, unless row ids are the keys.
    /// </para>
    /// <para>
    /// <see cref="BulkLoadOptions.Sorted"/> promises rows in the order of their primary keys as the table stores them.
    /// <see cref="BulkLoadOptions.Duplicates"/> is the rule for primary keys; an expired row counts as none. Two rows with the same key in a unique index
    /// end the load. A duplicate of a new or an empty table is found by <see cref="TableBulkLoad{TRow}.CompleteAsync"/>, if not before.
    /// </para>
    /// </remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="definition">The definition of the table. Its functions run on the thread that puts a row.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the load, from its beginning to its end.</param>
    /// <exception cref="ArgumentException">An option is not valid.</exception>
    /// <exception cref="ArgumentNullException">The environment or the definition is null.</exception>
    /// <exception cref="SchemaMismatchException">The definition does not fit the table.</exception>
    /// <exception cref="IndexMismatchException">The function of an index returns other keys than the index contains.</exception>
    /// <exception cref="InvalidOperationException">The environment is read-only, or the call was made inside a group-commit operation.</exception>
    /// <exception cref="StorageFullException">There is no space for the first commit, or no table number is left.</exception>
    /// <exception cref="StorageAccessException">The directory for temporary files cannot be used.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public static async ValueTask<TableBulkLoad<TRow>> BeginBulkLoadAsync<TKey, TRow>(
        this StorageEnvironment environment, TableDefinition<TKey, TRow> definition, BulkLoadOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        ArgumentNullException.ThrowIfNull(definition);
        options = StorageEnvironment.Check(options);
        RowEncoder<TRow>? encoder = null;
        var load = await environment.BeginLoadAsync($"table '{definition.Name}'", options, BeginAsync, cancellationToken).ConfigureAwait(false);
        return new TableBulkLoad<TRow>(load, encoder!);

        async ValueTask<OrderedLoad> BeginAsync(PrivateTrees trees, CancellationToken stop)
        {
            using var writing = await environment.BeginWriteAsync(cancellationToken).ConfigureAwait(false);
            _ = writing.CreateTable(definition);
            var bound = BoundTable.Open(new SystemTreeAccess(writing), definition.Functions)!;
            bound.EnterToWrite(definition.Functions);
            var whole = TableLoad.TryBegin(environment, writing, bound, options, trees, stop);
            encoder = new RowEncoder<TRow>(definition.Functions, bound)
            {
                Version = whole == null ? null : RowEditor.TakeVersion(bound),
                ExpiredReplace = options.Duplicates == DuplicateKeys.LastWins,
            };
            try
            {
                await writing.CommitAsync(CancellationToken.None).ConfigureAwait(false);
            }
            catch
            {
                whole?.Dispose();
                throw;
            }

            return whole
                ?? (OrderedLoad)new RowSlices<TKey, TRow>(() => environment.BeginSlice(stop), trees, definition, options.Duplicates);
        }
    }

    private static async ValueTask<BulkLoadReport> LoadAsync<TRow>(
        ValueTask<TableBulkLoad<TRow>> begun, Func<TableBulkLoad<TRow>, Task> fill, CancellationToken cancellationToken)
    {
        using var load = await begun.ConfigureAwait(false);
        await Task.Run(() => fill(load), cancellationToken).ConfigureAwait(false);
        return await load.CompleteAsync(cancellationToken).ConfigureAwait(false);
    }
}
