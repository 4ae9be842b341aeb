using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Opening;

/// <summary>Closes an environment.</summary>
/// <remarks>
/// <code>
///   open ──▶ closing: nothing begins, callers that wait for the writer are notified
///        ──▶ flusher and scrubber have ended
///        ──▶ the engine's work on the pool has ended: trims of feeds, drops, trainings of dictionaries
///        ──▶ the writer is free, or given up: no more transactions are submitted
///        ──▶ flushed and sealed, no flush begins
///        ──▶ no journal write is under way, none begins: no more commits are acknowledged
///        ──▶ closed: memory, files and lock are released with the last transaction and the last call
/// </code>
/// Each step waits only for the device, for as long as that takes, with two exceptions: a write transaction that stays open, and the user's
/// code. For each of these it waits a few seconds at most. Work on the pool may wait for a thread of the pool, and reads from the device as the
/// scrubber does: for that it waits a minute at most. An interruption of the calling thread ends no step. No step runs the user's code, and
/// none waits for a thread that does, so any thread may close an environment, including one that is calling an observer.
/// </remarks>
internal sealed class EnvironmentCloser(OpenedEngine opened)
{
    private static readonly TimeSpan WorkPatience = TimeSpan.FromMinutes(1);

    private readonly Engine _engine = opened.Engine;
    private readonly TimeSpan _patience = opened.Engine.Options.ClosingPatience;
    private readonly long _began = Stopwatch.GetTimestamp();

    public void Close()
    {
        var writing = opened.Writing;
        var isWriterFree = false;
        try
        {
            Try(() => NoContinuations.Run(static closing => closing.Cancel(), _engine.Closing));
            if (writing != null)
            {
                Try(writing.Scrubber.Dispose);

                // It is still notified of journal writes until the journal is closed.
                Try(writing.Scheduler.Stop);
            }

            Try(WaitForWork);
            if (writing != null)
                CloseWriter(writing, out isWriterFree);
        }
        finally
        {
            ReleaseUsers(isWriterFree);
        }
    }

    // The work may hold the writer, and would keep the directory locked although no transaction of the caller is open.
    private void WaitForWork() => _engine.Users.WaitForWork(
        WorkPatience, _patience, () => _engine.Observers.IsCalling || GuardedLogger.IsBusy(_engine.Logger));

    private void ReleaseUsers(bool isWriterFree)
    {
        Debug.Assert(_engine.Closing.IsCancellationRequested, "Closing must be announced before users are refused.");
        var transactionId = _engine.Ring.PublishedId;
        try
        {
            _engine.Users.Close();
        }
        finally
        {
            _engine.Users.WaitForCalls(_patience, isWriterFree);
            ClosedEnvironments.Add(_engine, opened.Writing?.Writer);
            _engine.Observers.Finish(_patience);
            var milliseconds = (long)Stopwatch.GetElapsedTime(_began).TotalMilliseconds;
            EnvironmentLog.Closed(_engine.Logger, _engine.Disk.Path, transactionId, milliseconds, _engine.Users.OpenReaders);
            GuardedLogger.Finish(_engine.Logger, _patience);
        }
    }

    // The following steps are taken even if this one fails: memory and files must not be released while a thread of the engine uses them.
    private void Try(Action step)
    {
        try
        {
            step();
        }
        catch (Exception e)
        {
            EnvironmentLog.ClosingStepFailed(_engine.Logger, _engine.Disk.Path, e.Message, e);

            // Cancelling collects the exceptions that its callbacks throw, including an interruption of this thread.
            Uninterrupted.PassOn(e is AggregateException { InnerExceptions: var all } && all.Any(thrown => thrown is ThreadInterruptedException));
        }
    }

    private void CloseWriter(WritingParts writing, out bool isWriterFree)
    {
        Debug.Assert(_engine.Closing.IsCancellationRequested, "Closing must be announced before the writer is taken for the last time.");
        var isFree = false;
        try
        {
            Uninterrupted.Run(() => isFree = writing.Writer.TryEnter(_patience, CancellationToken.None));
            if (isFree)
                writing.Writer.Release();
            else
                EnvironmentLog.WriterAbandoned(_engine.Logger, _engine.Disk.Path, writing.Writer.TransactionId);
            _engine.Journal!.RefuseTransactions();
            writing.Flusher.Close();
        }
        catch (Exception e)
        {
            // All resources must be released nevertheless.
            EnvironmentLog.CloseFailed(_engine.Logger, _engine.Disk.Path, e.Message, e);
        }
        finally
        {
            // Operations that are still waiting fail: no more transactions begin.
            isWriterFree = isFree;
            writing.GroupCommit.Dispose();
            opened.CloseWriting();
        }
    }
}
