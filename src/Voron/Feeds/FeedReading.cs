using System.Runtime.CompilerServices;
using Voron.Recording;
using Voron.Tables;
using Voron.Testing;

namespace Voron.Feeds;

/// <summary>Reads the changes of feeds.</summary>
public static class FeedReading
{
    /// <summary>
    /// Fills a batch with the changes that a snapshot contains after a position; false, with an empty batch, when there are none. If the snapshot
    /// contains lazy commits that are not durable yet, they are made durable: a consumer must not see changes that a crash can undo.
    /// </summary>
    /// <param name="transaction">The snapshot.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="after">The position after which the batch begins: that of the previous batch, or <see cref="ChangePosition.Start"/>.</param>
    /// <param name="batch">The batch. Changes read from it earlier are no longer valid.</param>
    /// <exception cref="KeyNotFoundException">The feed does not exist.</exception>
    /// <exception cref="ChangesLostException">Changes after the position have been deleted, or the position belongs to another feed.</exception>
    /// <exception cref="CorruptionException">The feed is damaged.</exception>
    /// <exception cref="EnvironmentPoisonedException">Lazy commits in the snapshot could not be made durable.</exception>
    /// <exception cref="ArgumentNullException">The batch is null.</exception>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public static bool ReadChanges(this ReadTransaction transaction, string feed, ChangePosition after, ChangeBatch batch)
    {
        ArgumentNullException.ThrowIfNull(batch);
        var registry = new FeedRegistry(transaction);
        var record = registry.Get(feed);
        after = registry.Resolve(feed, record, after, transaction.TransactionId);
        batch.Begin(after);
        var key = ChangeRecord.WriteKey(after.TransactionId, after.Ordinal, stackalloc byte[ChangeRecord.KeyBytes]);
        var changes = registry.OpenChanges(feed, record);
        NoteTime(changes, after.TransactionId, batch);
        Fill(registry, feed, record, changes.Range(KeyRange.After(key)), batch);
        if (batch.Count == 0)
            return false;
        try
        {
            transaction.MakeDurable();
        }
        catch
        {
            batch.Begin(after);
            throw;
        }

        return true;
    }

    /// <summary>
    /// Follows a feed: returns the changes after a position, and then waits for more. Holds no snapshot, lock or page between two batches.
    /// </summary>
    /// <remarks>
    /// <para>
    /// The enumeration waits for changes until it is cancelled or the environment is closed. In a read-only environment, in which nothing changes, it
    /// ends after the last change instead. To stop at the end of a snapshot, use <see cref="ReadChanges"/>.
    /// </para>
    /// <para>
    /// All batches of an enumeration are the same object, refilled each time: copy data that must outlive the loop body. A batch contains whole
    /// transactions, unless one is larger than the batch: see <see cref="ChangeBatch.IsTransactionComplete"/>.
    /// </para>
    /// </remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="after">The position after which to begin.</param>
    /// <param name="maxBatchBytes">See <see cref="ChangeBatch.MaxBytes"/>.</param>
    /// <param name="cancellationToken">Ends the enumeration with an <see cref="OperationCanceledException"/>.</param>
    /// <exception cref="EnvironmentPoisonedException">A write has failed: no more changes will follow.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the enumeration.</exception>
    /// <exception cref="OperationCanceledException">The enumeration was cancelled.</exception>
    /// <exception cref="ArgumentNullException">The environment is null.</exception>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxBatchBytes"/> is less than 1 or above
    /// <see cref="ChangeBatch.LargestMaxBytes"/>.</exception>
    /// <exception cref="KeyNotFoundException">The feed does not exist.</exception>
    /// <exception cref="ChangesLostException">Changes after the position have been deleted, or the position belongs to another feed.</exception>
    /// <exception cref="CorruptionException">The feed is damaged.</exception>
    public static IAsyncEnumerable<ChangeBatch> ReadChangesAsync(
        this StorageEnvironment environment, string feed, ChangePosition after, int maxBatchBytes = ChangeBatch.DefaultMaxBytes,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        _ = FeedRegistry.FeedKey(feed);
        ChangeBatch.CheckBytes(maxBatchBytes, nameof(maxBatchBytes));
        return FollowAsync(environment, feed, _ => after, maxBatchBytes, cancellationToken);
    }

    /// <summary>
    /// Follows a feed from the position that a consumer has stored with <see cref="FeedTransactions.SetPosition"/>; from the beginning if it has
    /// stored none.
    /// </summary>
    /// <remarks>
    /// The position is read once, when the enumeration begins. The loop stores the position of each batch, ideally in the transaction that applies
    /// its changes: each change is then applied exactly once.
    /// </remarks>
    /// <param name="environment">The environment.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="consumer">The name of the consumer.</param>
    /// <param name="maxBatchBytes">See <see cref="ChangeBatch.MaxBytes"/>.</param>
    /// <param name="cancellationToken">Ends the enumeration with an <see cref="OperationCanceledException"/>.</param>
    /// <exception cref="ArgumentException">A name is empty, too long, or not valid text.</exception>
    /// <inheritdoc cref="ReadChangesAsync(StorageEnvironment, string, ChangePosition, int, CancellationToken)"/>
    public static IAsyncEnumerable<ChangeBatch> ReadChangesAsync(
        this StorageEnvironment environment, string feed, string consumer, int maxBatchBytes = ChangeBatch.DefaultMaxBytes,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        _ = FeedRegistry.FeedKey(feed);
        SchemaKeys.CheckName(consumer, "a consumer");
        ChangeBatch.CheckBytes(maxBatchBytes, nameof(maxBatchBytes));
        return FollowAsync(
            environment, feed, reading => reading.TryGetPosition(feed, consumer, out var stored) ? stored : ChangePosition.Start, maxBatchBytes,
            cancellationToken);
    }

    private static async IAsyncEnumerable<ChangeBatch> FollowAsync(
        StorageEnvironment environment, string feed, Func<ReadTransaction, ChangePosition> begin, int maxBatchBytes,
        [EnumeratorCancellation] CancellationToken cancellationToken)
    {
        var batch = new ChangeBatch(maxBatchBytes);
        using var wait = new CommitWait(environment, cancellationToken);
        ChangePosition? after = null;
        while (true)
        {
            cancellationToken.ThrowIfCancellationRequested();
            wait.Arm();
            bool isFilled;
            using (var reading = environment.BeginRead())
                isFilled = reading.ReadChanges(feed, after ?? begin(reading), batch);
            after = batch.Position;
            if (isFilled)
                yield return batch;
            else if (environment.Options.ReadOnly)
                yield break;
            else
                await wait.WaitAsync().ConfigureAwait(false);
        }
    }

    // The batch may begin in the middle of a transaction, whose first change contains the time.
    private static void NoteTime(Tree changes, long transactionId, ChangeBatch batch)
    {
        if (!batch.Buffer.WantsTime(transactionId))
            return;
        var first = ChangeRecord.WriteKey(transactionId, 0, stackalloc byte[ChangeRecord.KeyBytes]);
        if (changes.TryGetCeiling(first, out var entry) && ChangeRecord.TryReadKey(entry.Key, out var id, out _) && id == transactionId
            && ChangeRecord.TryRead(entry.Value, out var change))
            batch.Buffer.NoteTime(transactionId, change.Time);
    }

    private static void Fill(FeedRegistry registry, string feed, in FeedRecord record, TreeRange changes, ChangeBatch batch)
    {
        var transactionId = 0L;
        var whole = 0;
        var last = batch.Position;
        foreach (var entry in changes)
        {
            if (!ChangeRecord.TryReadKey(entry.Key, out var id, out var ordinal) || !ChangeRecord.TryRead(entry.Value, out var change))
                throw registry.DamagedChange(feed, entry.Key);

            // Positions must rise: otherwise, a damaged tree could make a consumer read forever.
            var position = last with { TransactionId = id, Ordinal = ordinal };
            if (position <= last)
                throw registry.DamagedChange(feed, entry.Key);
            last = position;
            if (id != transactionId)
                (transactionId, whole) = (id, batch.Count);
            if (batch.Count > 0 && batch.Buffer.SizeWith(change) > batch.MaxBytes)
            {
                batch.End(whole > 0 ? whole : batch.Count, isTransactionComplete: whole > 0);
                if (PlantedFault.SkipLastOfBatch)
                    batch.Buffer.Cut(batch.Count - 1);
                return;
            }

            if (!batch.Buffer.TryGetSource(change.Source, out var source))
            {
                if (!registry.TryGetSource(record, change.Source, out source))
                    throw registry.DamagedChange(feed, entry.Key);
                batch.Buffer.AddSource(change.Source, source);
            }

            batch.Buffer.Add(id, ordinal, change, source);
        }

        batch.End(batch.Count, isTransactionComplete: true);
    }
}
