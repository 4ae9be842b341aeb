using Voron.Loading;

namespace Voron;

/// <content>Bulk loads.</content>
public sealed partial class StorageEnvironment
{
    /// <summary>
    /// Loads entries from a sequence in any order into a tree, which is created if it does not exist: into a new or an empty tree all of them or
    /// none, otherwise in key order, in transactions of some megabytes.
    /// </summary>
    /// <remarks><inheritdoc cref="BeginBulkLoadAsync" path="/remarks/node()"/></remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="entries">The entries. The sequence is read on a pool thread, with no lock held; an exception from it ends the load.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the load, until its last commit begins.</param>
    /// <inheritdoc cref="BulkLoad.Put"/>
    public ValueTask<BulkLoadReport> BulkLoadAsync(
        string name, IEnumerable<(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Value)> entries, BulkLoadOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(entries);
        return BulkLoadAsync(
            name,
            load =>
            {
                foreach (var (key, value) in entries)
                    load.Put(key.Span, value.Span);
                return Task.CompletedTask;
            },
            options,
            cancellationToken);
    }

    /// <summary>As the other overload, for an asynchronous sequence.</summary>
    /// <remarks><inheritdoc cref="BeginBulkLoadAsync" path="/remarks/node()"/></remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="entries">The entries. An exception from the sequence ends the load. It is given the token.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the load, until its last commit begins.</param>
    /// <inheritdoc cref="BulkLoad.Put"/>
    public ValueTask<BulkLoadReport> BulkLoadAsync(
        string name, IAsyncEnumerable<(ReadOnlyMemory<byte> Key, ReadOnlyMemory<byte> Value)> entries, BulkLoadOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(entries);
        return BulkLoadAsync(
            name,
            async load =>
            {
                await foreach (var (key, value) in entries.WithCancellation(cancellationToken).ConfigureAwait(false))
                    load.Put(key.Span, value.Span);
            },
            options,
            cancellationToken);
    }

    /// <summary>Begins a load of entries in any order into a tree, which the caller puts one after the other and then completes.</summary>
    /// <remarks>
    /// The entries are sorted outside the tree, in memory and in a temporary file, and then written to free pages of the data file in key order, past
    /// the journal: each byte is written about once to the tree, and once, compressed, to the temporary file if the memory does not suffice. One
    /// short commit makes a tree that was new or empty refer to those pages. A tree that has entries, or is recorded in a feed, is filled by
    /// transactions of some megabytes instead: what a crash or a failure leaves is the beginning in key order, and loading again is right. The
    /// dictionaries of a compressed tree are trained on the thread of the load, and installed when all else is done: a failure or a cancellation
    /// after that may leave them in the empty tree, and the next load uses them.
    /// </remarks>
    /// <param name="name">The name of the tree.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the load, from its beginning to its end.</param>
    /// <exception cref="ArgumentException">An option, or the name, is not valid.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree is of another kind, the environment is read-only, or the call was made inside a group-commit operation.
    /// </exception>
    /// <exception cref="StorageFullException">There is no space for the first commit, which gives a new tree its id.</exception>
    /// <exception cref="StorageAccessException">The directory for the temporary file cannot be used.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or earlier.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public async ValueTask<BulkLoad> BeginBulkLoadAsync(string name, BulkLoadOptions? options = null, CancellationToken cancellationToken = default)
    {
        _ = RequireWritable(nameof(BeginBulkLoadAsync));
        var encoded = Encode(name);
        options = Check(options);
        return await BeginLoadAsync($"tree '{name}'", options, BeginTreeAsync, cancellationToken).ConfigureAwait(false);

        async ValueTask<OrderedLoad> BeginTreeAsync(PrivateTrees trees, CancellationToken stop) =>
            await TreeLoad.TryBeginAsync(trees, encoded, cancellationToken).ConfigureAwait(false)
            ?? (OrderedLoad)new TreeSlices(() => BeginSlice(stop), Stage, name, options.Duplicates);

        StagedValue Stage(byte[] value) => StageAsync(new MemoryStream(value), cancellationToken).AsTask().GetAwaiter().GetResult();
    }

    /// <summary>Begins a transaction of a load in slices. It is durable even if other commits are lazy, as the end of a load promises.</summary>
    internal WriteTransaction BeginSlice(CancellationToken stop)
    {
        var writing = BeginWrite(Timeout.InfiniteTimeSpan, stop);
        writing.Durability = Durability.Durable;
        return writing;
    }

    private async ValueTask<BulkLoadReport> BulkLoadAsync(
        string name, Func<BulkLoad, Task> fill, BulkLoadOptions? options, CancellationToken cancellationToken)
    {
        using var load = await BeginBulkLoadAsync(name, options, cancellationToken).ConfigureAwait(false);
        await Task.Run(() => fill(load), cancellationToken).ConfigureAwait(false);
        return await load.CompleteAsync(cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Returns a copy of valid options.</summary>
    /// <exception cref="ArgumentException">An option is not valid.</exception>
    internal static BulkLoadOptions Check(BulkLoadOptions? options)
    {
        options = options == null ? new BulkLoadOptions() : options.Copy();
        if (options.MemoryBytes < BulkLoadOptions.MinMemoryBytes)
        {
            throw new ArgumentException(
                $"{nameof(BulkLoadOptions.MemoryBytes)} is {options.MemoryBytes}; it must be at least {BulkLoadOptions.MinMemoryBytes}.",
                nameof(options));
        }

        if (options.Duplicates is < DuplicateKeys.LastWins or > DuplicateKeys.Refuse)
        {
            throw new ArgumentException(
                $"{nameof(BulkLoadOptions.Duplicates)} is {options.Duplicates}, which is no value of its type.", nameof(options));
        }

        return options;
    }
}
