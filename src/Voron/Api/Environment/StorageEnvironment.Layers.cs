using Microsoft.Extensions.Logging;
using Voron.Feeds;
using Voron.Loading;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <content>What tables and feeds need of an environment.</content>
public sealed partial class StorageEnvironment
{
    internal ILogger Logger => _engine.Logger;

    /// <summary>Cancelled when closing begins.</summary>
    internal CancellationToken ClosingToken => _engine.Closing.Token;

    /// <inheritdoc cref="BackgroundDeletions.ExpiringTables"/>
    internal int ExpiringTables => _deletions?.ExpiringTables ?? 0;

    /// <summary>Returns a task that completes with the next transaction that becomes durable after this call.</summary>
    internal Task NextDurableCommit() => _engine.MadeDurable.Arm();

    /// <inheritdoc cref="StorageOptions.BulkLoadMemoryBytes"/>
    internal long BulkLoadMemoryBytes => _engine.Options.BulkLoadMemoryBytes;

    /// <inheritdoc cref="DuplicateKeyFinder(ReadingEngine, long, int, CancellationToken)"/>
    internal DuplicateKeyFinder CreateDuplicateKeyFinder(int mostFound, CancellationToken stop) =>
        new(_engine, BulkLoadMemoryBytes, mostFound, stop);

    /// <summary>Begins trees that a transaction can adopt.</summary>
    /// <param name="call">The name of the public method that needs them.</param>
    /// <param name="stop">Cancels the waits for the writer.</param>
    internal PrivateTrees CreatePrivateTrees(string call, CancellationToken stop) => new(RequireWritable(call).Staging, stop);

    /// <summary>Begins a bulk load.</summary>
    /// <param name="target">What is loaded, for messages: the kind and the name.</param>
    /// <param name="options">Valid options.</param>
    /// <param name="begin">
    /// Begins to store the entries, in the pages that it receives or in transactions. It may change the memory of the options. The token cancels the
    /// load.
    /// </param>
    /// <param name="cancellationToken">The token of the caller.</param>
    internal async ValueTask<BulkLoad> BeginLoadAsync(
        string target, BulkLoadOptions options, Func<PrivateTrees, CancellationToken, ValueTask<OrderedLoad>> begin,
        CancellationToken cancellationToken)
    {
        var area = RequireWritable(nameof(BeginBulkLoadAsync)).Staging;
        var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _engine.Closing.Token);
        var parts = new LoadParts(area, options.SpillDirectory, stop);
        try
        {
            parts.Load = await begin(parts.Trees, stop.Token).ConfigureAwait(false);
            if (!options.Sorted && !parts.Load.TakesAnyOrder)
                parts.Sorter = new LoadSorter(parts.Trees, options, parts.Load, stop.Token);
            return new BulkLoad(_engine, _calls, target, options, parts);
        }
        catch
        {
            parts.Dispose();
            throw;
        }
    }

    /// <exception cref="EnvironmentPoisonedException">A write has failed.</exception>
    internal void ThrowIfPoisoned() => _engine.Poison.ThrowIfPoisoned();

    /// <summary>Returns the exception for a call that finds the environment closed.</summary>
    /// <param name="detail">What the call did meanwhile, as a sentence after a space.</param>
    internal ObjectDisposedException ClosedError(string detail) => EndedErrors.Environment(Path, detail);

    /// <inheritdoc cref="FeedTransactions.TrimFeedsAsync"/>
    internal async ValueTask<long> TrimFeedsNowAsync(CancellationToken cancellationToken)
    {
        _ = RequireWritable(nameof(FeedTransactions.TrimFeedsAsync));
        return await _deletions!.TrimFeedsAsync(cancellationToken).ConfigureAwait(false);
    }

    private BackgroundRun RunOf(TimeProvider clock) => new(_engine, clock, BeginRead, BeginWriteAsync, WriteAsync);
}
