using System.Diagnostics;
using Voron.Flushing;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Dropping;

/// <summary>Frees the pages of dropped trees in the background, in short transactions.</summary>
/// <remarks>
/// <code>
///   named ─▶ renamed to FF D id, durable ─▶ some pages freed, durable ─┐ ─▶ empty: no longer in the catalog
///                                             ▲                        │
///                                             └── an opening, a drop ──┴─ cancelled, closed, failed, killed
/// </code>
/// The catalog is all the state there is, and each transaction leaves it whole: whatever ends a run, the next one goes on. One run at a time frees
/// the pages of all dropped trees; callers wait for it, and do not carry it.
/// <para>
/// After every <see cref="BytesBetweenFlushes"/>, a flush makes sure that what was freed before the flush before is in the data file. A reader that
/// keeps the flusher back therefore stops the run, which goes on when the reader has ended, and the memory for freed pages stays bounded.
/// </para>
/// </remarks>
/// <param name="engine">The environment.</param>
/// <param name="flusher">Its flusher.</param>
/// <param name="entrance">Gives the writer to the runs.</param>
internal sealed class TreeDropper(Engine engine, Flusher flusher, WriterEntrance entrance)
{
    /// <summary>
    /// The number of pages that a transaction frees. Its record has room in the reserve of the journal, however scattered they are, so that a full
    /// disk can be emptied.
    /// </summary>
    public const int PagesOfTransaction = 1000;

    private const long BytesBetweenFlushes = 64L << 20;

    private static readonly TimeSpan ReaderPause = TimeSpan.FromMilliseconds(20);

    // Protects the two fields below. Nothing is called while it is held.
    private readonly Lock _gate = new();
    private Task? _run;
    private bool _isWanted;

    /// <summary>Takes its name from a tree, and waits until all dropped trees have lost their pages.</summary>
    /// <returns>False if there is no such tree.</returns>
    /// <exception cref="OperationCanceledException">Cancelled. If the tree has lost its name by then, its pages are freed all the same.</exception>
    public async Task<bool> DropAsync(byte[] name, CancellationToken stop)
    {
        var isFound = false;
        await RunTransactionAsync(
            body =>
            {
                isFound = body.DropTree(name, PagesOfTransaction);
                return isFound;
            },
            stop).ConfigureAwait(false);
        if (isFound)
            await Resume().WaitAsync(stop).ConfigureAwait(false);
        return isFound;
    }

    /// <summary>Begins to free the pages of dropped trees, unless that is under way. The task completes when there are none left.</summary>
    public Task Resume()
    {
        using (Uninterrupted.Hold(_gate))
        {
            _isWanted = true;
            if (_run != null)
                return _run;
            _run = Task.Run(RunAsync);

            // There need not be a caller who waits.
            _ = _run.ContinueWith(
                run => _ = run.Exception, CancellationToken.None, TaskContinuationOptions.OnlyOnFaulted, TaskScheduler.Default);
            return _run;
        }
    }

    private async Task RunAsync()
    {
        var began = Stopwatch.GetTimestamp();
        var freed = 0L;
        try
        {
            engine.Users.AddCall();
            try
            {
                while (TryBeginPass())
                    freed += await FreeAllAsync(engine.Closing.Token).ConfigureAwait(false);
            }
            finally
            {
                engine.Users.RemoveCall();
            }

            if (freed > 0)
            {
                var milliseconds = (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds;
                DroppingLog.Freed(engine.Logger, engine.Disk.Path, freed, milliseconds);
            }
        }
        catch (Exception e)
        {
            End();
            if (e is not (OperationCanceledException or ObjectDisposedException))
                DroppingLog.Failed(engine.Logger, engine.Disk.Path, e.Message, e);
            throw;
        }
    }

    // A tree that is dropped while a pass ends wants another one: its caller waits for this run.
    private bool TryBeginPass()
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (!_isWanted)
                _run = null;
            var isWanted = _isWanted;
            _isWanted = false;
            return isWanted;
        }
    }

    private void End()
    {
        using (Uninterrupted.Hold(_gate))
            _run = null;
    }

    private async Task<long> FreeAllAsync(CancellationToken stop)
    {
        var (total, sinceFlush, most) = (0L, 0L, PagesOfTransaction);
        var (settledId, lastId) = (0L, 0L);
        while (true)
        {
            var freed = 0L;
            try
            {
                lastId = await RunTransactionAsync(
                    body =>
                    {
                        freed = body.CutDroppedTree(most);
                        return freed >= 0;
                    },
                    stop).ConfigureAwait(false);
            }
            catch (StorageFullException) when (most > 1)
            {
                most /= 2;
                continue;
            }

            if (freed < 0)
                return total;
            total += freed;
            sinceFlush += freed * engine.PageSize;
            if (sinceFlush < BytesBetweenFlushes)
                continue;
            await FlushAsync(settledId, stop).ConfigureAwait(false);
            (settledId, sinceFlush) = (lastId, 0);
        }
    }

    private async Task FlushAsync(long settledId, CancellationToken stop)
    {
        flusher.Flush();
        while (flusher.CheckpointId < settledId)
        {
            await SchedulePoint.Pause(ReaderPause, stop).ConfigureAwait(false);
            flusher.Flush();
        }
    }

    // Returns the id of the transaction, when it is durable.
    private async Task<long> RunTransactionAsync(Func<WriteTransactionBody, bool> work, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        var body = await entrance.BeginAsync(stop).ConfigureAwait(false);
        var isCommitted = false;
        try
        {
            var id = body.WritePages.Id;
            if (!work(body))
                return 0;
            var progress = default(CommitProgress);
            var durable = body.CommitAsync(ref progress);
            isCommitted = true;
            await durable.ConfigureAwait(false);
            return id;
        }
        finally
        {
            if (!isCommitted)
                body.Rollback();
            body.CallUser();
        }
    }
}
