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
///                                             └── an opening, a drop ──┴─ closed, failed, killed
/// </code>
/// The catalog is the only state, and each transaction leaves it consistent: however a run ends, the next one continues. One run at a time frees
/// the pages of all dropped trees, one tree after the other. A caller waits for its own tree, and does not perform the run.
/// <para>
/// After every <see cref="BytesBetweenFlushes"/>, a flush makes sure that everything freed before the previous flush is in the data file. A reader
/// that holds the flusher back therefore stops the run until the reader ends, and the memory for freed pages stays bounded.
/// </para>
/// <para>
/// A damaged tree is skipped: it keeps its remaining pages, and the next run tries again. If there is no space or no memory, the run fails the
/// waiting callers, pauses and tries again; without background work (<see cref="StorageOptions.BackgroundFlush"/>), it ends.
/// </para>
/// </remarks>
/// <param name="engine">The environment.</param>
/// <param name="flusher">Its flusher.</param>
/// <param name="entrance">Gives the writer to the runs.</param>
internal sealed class TreeDropper(ReadingEngine engine, Flusher flusher, WriterEntrance entrance)
{
    private const long BytesBetweenFlushes = 64L << 20;

    private static readonly TimeSpan ReaderPause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan FirstPause = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMinutes(1);

    // Protects the fields below. No blocking call is made while it is held.
    private readonly Lock _gate = new();
    private readonly Dictionary<uint, TaskCompletionSource> _waiting = [];
    private TaskCompletionSource _asked = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private bool _isRunning;
    private bool _isWanted;

    /// <summary>True while a run frees pages, or looks for trees whose pages are to be freed.</summary>
    public bool IsRunning
    {
        get
        {
            using (Uninterrupted.Hold(_gate))
                return _isRunning;
        }
    }

    /// <summary>Removes the name of a tree, and waits until all of its pages are free.</summary>
    /// <returns>False if the tree does not exist.</returns>
    /// <exception cref="OperationCanceledException">Cancelled. If the tree has lost its name by then, its pages are freed all the same.</exception>
    public async Task<bool> DropAsync(byte[] name, CancellationToken stop)
    {
        var tree = default(DroppedTree);
        TaskCompletionSource? freed = null;
        TaskCompletionSource? freedSets = null;
        try
        {
            await RunTransactionAsync(
                body =>
                {
                    tree = body.DropTree(name, Math.Min(engine.Options.PagesOfDrop, DropPace.PagesAtOnce));

                    // Registered before the commit: an active run may free the tree as soon as it sees it.
                    if (tree.HasPages)
                        freed = Expect(tree.Id);
                    if (tree.LargeSetsId is { } id)
                        freedSets = Expect(id);
                    return tree.IsFound;
                },
                null,
                stop).ConfigureAwait(false);
        }
        catch
        {
            Forget(tree, freed, freedSets);
            throw;
        }

        if (tree.IsFound)
            Resume();
        try
        {
            if (freed != null)
                await freed.Task.WaitAsync(stop).ConfigureAwait(false);
            if (freedSets != null)
                await freedSets.Task.WaitAsync(stop).ConfigureAwait(false);
        }
        finally
        {
            Forget(tree, freed, freedSets);
        }

        return tree.IsFound;
    }

    /// <summary>Starts to free the pages of dropped trees, unless a run is active.</summary>
    /// <exception cref="OutOfMemoryException">There is not enough memory to start.</exception>
    public void Resume()
    {
        using (Uninterrupted.Hold(_gate))
        {
            _isWanted = true;
            if (_isRunning)
            {
                _asked.TrySetResult();
                return;
            }

            _isRunning = true;
        }

        // The run must not capture the execution context of the caller.
        var flow = ExecutionContext.IsFlowSuppressed() ? default : ExecutionContext.SuppressFlow();
        try
        {
            _ = Task.Run(RunAsync);
        }
        catch
        {
            using (Uninterrupted.Hold(_gate))
                _isRunning = false;
            throw;
        }
        finally
        {
            flow.Dispose();
        }
    }

    // Never throws: waiting callers receive its failures.
    private async Task RunAsync()
    {
        try
        {
            if (!engine.Users.TryAddWork())
                throw EndedErrors.Environment(engine.Disk.Path);
            try
            {
                for (var pause = FirstPause; TryBeginPass();)
                {
                    if (await TryFreeAllAsync().ConfigureAwait(false))
                    {
                        pause = FirstPause;
                        continue;
                    }

                    // Another drop ends the pause: there was space for its first transaction.
                    await Task.WhenAny(_asked.Task, Task.Delay(pause, engine.Closing.Token)).ConfigureAwait(false);
                    engine.Closing.Token.ThrowIfCancellationRequested();
                    pause = pause * 2 < LongestPause ? pause * 2 : LongestPause;
                }
            }
            finally
            {
                engine.Users.RemoveWork();
            }
        }
        catch (Exception e)
        {
            if (e is not (OperationCanceledException or ObjectDisposedException))
                DroppingLog.Failed(engine.Logger, engine.Disk.Path, e.Message, e);
            Fail(e, ends: true);
        }
    }

    // A tree dropped while a pass ends needs another pass: its caller waits for this run.
    private bool TryBeginPass()
    {
        using (Uninterrupted.Hold(_gate))
        {
            _isRunning = _isWanted;
            _isWanted = false;
            _asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            return _isRunning;
        }
    }

    // False to try again after a pause.
    private async Task<bool> TryFreeAllAsync()
    {
        var began = Stopwatch.GetTimestamp();
        try
        {
            var freed = await FreeAllAsync(engine.Closing.Token).ConfigureAwait(false);
            var milliseconds = (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds;
            if (freed > 0)
                DroppingLog.Freed(engine.Logger, engine.Disk.Path, freed, milliseconds);
            return true;
        }
        catch (Exception e) when (engine.Options.BackgroundFlush && e is StorageFullException or StorageMemoryException or OutOfMemoryException)
        {
            DroppingLog.Failed(engine.Logger, engine.Disk.Path, e.Message, e);
            Fail(e, ends: false);
            return false;
        }
    }

    private async Task<long> FreeAllAsync(CancellationToken stop)
    {
        var (total, sinceFlush, most) = (0L, 0L, engine.Options.PagesOfDrop);
        var (settledId, lastId) = (0L, 0L);
        StorageFullException? full = null;
        var pace = new DropPace(engine.WriterLock!);
        for (var from = 0u; ;)
        {
            var (tree, freed) = (default(DroppedTree), 0L);
            try
            {
                DropReadAhead.Read(engine, from, most);
                await pace.WaitAsync(stop).ConfigureAwait(false);
                lastId = await RunTransactionAsync(
                    body =>
                    {
                        tree = body.FindDroppedTree(from);
                        if (tree.IsFound)
                            freed = Cut(body, ref tree, most, pace);
                        return tree.IsFound;
                    },
                    pace,
                    stop).ConfigureAwait(false);
                most = Math.Min(2 * most, engine.Options.PagesOfDrop);
            }
            catch (StorageFullException) when (most > 1)
            {
                most /= 2;
                continue;
            }
            catch (StorageFullException e) when (tree.IsFound)
            {
                // Freeing other trees may provide the space that this one needs.
                full = e;
                Complete(tree.Id, e);
                (from, most) = (tree.Id + 1, engine.Options.PagesOfDrop);
                continue;
            }
            catch (CorruptionException e) when (tree.IsFound)
            {
                DroppingLog.Failed(engine.Logger, engine.Disk.Path, e.Message, e);
                Complete(tree.Id, e);
                from = tree.Id + 1;
                continue;
            }

            if (!tree.IsFound)
                return full == null ? total : throw full;
            from = tree.Id;
            if (!tree.HasPages)
                Complete(tree.Id, null);
            total += freed;
            sinceFlush += freed * engine.PageSize;
            if (sinceFlush < BytesBetweenFlushes)
                continue;
            await FlushAsync(settledId, stop).ConfigureAwait(false);
            (settledId, sinceFlush) = (lastId, 0);
        }
    }

    private static long Cut(WriteTransactionBody body, ref DroppedTree tree, long most, DropPace pace)
    {
        pace.Begin();
        var freed = 0L;
        do
        {
            tree = body.CutDroppedTree(tree.Id, (int)Math.Min(most - freed, DropPace.PagesOfSlice), out var slice);
            freed += slice;
        }
        while (tree.HasPages && freed < most && !pace.IsOver);
        return freed;
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

    private TaskCompletionSource Expect(uint treeId)
    {
        var freed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using (Uninterrupted.Hold(_gate))
            _waiting[treeId] = freed;
        return freed;
    }

    private void Forget(in DroppedTree tree, TaskCompletionSource? freed, TaskCompletionSource? freedSets)
    {
        if (freed != null)
            Forget(tree.Id, freed);
        if (freedSets != null)
            Forget(tree.LargeSetsId!.Value, freedSets);
    }

    // Another caller may have found the tree again, after this caller's commit failed.
    private void Forget(uint treeId, TaskCompletionSource freed)
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_waiting.TryGetValue(treeId, out var waiting) && waiting == freed)
                _waiting.Remove(treeId);
        }
    }

    private void Complete(uint treeId, Exception? failure)
    {
        TaskCompletionSource? freed;
        using (Uninterrupted.Hold(_gate))
            _waiting.Remove(treeId, out freed);
        if (freed != null)
            End(freed, failure);
    }

    // In one step with the end of the run: a caller either fails with it or begins another one.
    private void Fail(Exception failure, bool ends)
    {
        TaskCompletionSource[] waiting;
        using (Uninterrupted.Hold(_gate))
        {
            waiting = [.. _waiting.Values];
            _waiting.Clear();
            _isWanted = !ends;
            _isRunning = !ends;
        }

        foreach (var freed in waiting)
            End(freed, failure);
    }

    private static void End(TaskCompletionSource freed, Exception? failure)
    {
        if (failure == null)
        {
            freed.SetResult();
            return;
        }

        freed.SetException(failure);

        // Its caller may have been cancelled.
        _ = freed.Task.Exception;
    }

    // Returns the id of the transaction, when it is durable.
    private async Task<long> RunTransactionAsync(Func<WriteTransactionBody, bool> work, DropPace? pace, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        var body = await entrance.BeginAsync(stop).ConfigureAwait(false);
        try
        {
            var id = body.WritePages.Id;
            if (!ShortTransaction.TryRun(body, work))
                return 0;

            var progress = default(CommitProgress);
            pace?.End();
            await body.CommitAsync(ref progress).ConfigureAwait(false);
            return id;
        }
        finally
        {
            body.CallUser();
        }
    }
}
