using Voron.Flushing;
using Voron.Maintenance;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>Closes an environment.</summary>
/// <remarks>
/// <code>
///   open ──▶ closing: nothing begins, callers that wait for the writer are told
///        ──▶ the engine's threads have ended
///        ──▶ the writer is free, or given up: no transaction is submitted any more
///        ──▶ flushed and sealed, no flush begins
///        ──▶ no journal write is under way, none begins: what is acknowledged has been
///        ──▶ closed: memory, files and lock go with the last transaction, and with the last call
/// </code>
/// Each step waits for the device alone, for as long as that takes, but for two: a write transaction that stays open, and the user's
/// code, are waited for for some seconds. An interruption of the calling thread ends no step. No step runs code of the user's, and none
/// waits for a thread that does: so any thread may close an environment, a thread that calls an observer too.
/// </remarks>
internal sealed class EnvironmentCloser(
    EnvironmentParts parts, Writer? writer, GroupCommit? groupCommit, Flusher? flusher, FlushScheduler? scheduler, Scrubber? scrubber)
{
    private static readonly TimeSpan WriterPatience = TimeSpan.FromSeconds(5);

    private static readonly TimeSpan UserPatience = TimeSpan.FromSeconds(5);

    private readonly Engine _context = parts.Context;

    public void Close()
    {
        var isWriterFree = false;
        try
        {
            Try(_context.Closing.Cancel);
            if (scrubber != null)
                Try(scrubber.Dispose);

            // It is still told of what is written until the journal is closed.
            if (scheduler != null)
                Try(scheduler.Stop);
            if (writer != null)
                CloseWriter(writer, out isWriterFree);
        }
        finally
        {
            try
            {
                _context.Users.Close();
            }
            finally
            {
                _context.Users.WaitForCalls(UserPatience, isWriterFree);
                ClosedEnvironments.Add(parts, writer);
                _context.Observers.Finish(UserPatience);
                GuardedLogger.Finish(_context.Logger, UserPatience);
            }
        }
    }

    // The steps behind it are made all the same: memory and files must not go below a thread of the engine's.
    private void Try(Action step)
    {
        try
        {
            step();
        }
        catch (Exception e)
        {
            EnvironmentLog.ClosingStepFailed(_context.Logger, _context.Disk.Path, e.Message, e);

            // Cancelling collects what its callbacks throw, the interruption of this thread among it.
            Uninterrupted.PassOn(e is AggregateException { InnerExceptions: var all } && all.Any(thrown => thrown is ThreadInterruptedException));
        }
    }

    private void CloseWriter(Writer slot, out bool isWriterFree)
    {
        var isFree = false;
        try
        {
            Uninterrupted.Run(() => isFree = slot.TryEnter(WriterPatience, CancellationToken.None));
            if (isFree)
                slot.Release();
            else
                EnvironmentLog.WriterAbandoned(_context.Logger, _context.Disk.Path, slot.TransactionId);
            _context.Journal!.RefuseTransactions();
            flusher!.Close();
        }
        catch (Exception e)
        {
            // Everything has to be let go of all the same.
            EnvironmentLog.CloseFailed(_context.Logger, _context.Disk.Path, e.Message, e);
        }
        finally
        {
            // What still waits fails: no transaction begins any more.
            isWriterFree = isFree;
            groupCommit!.Dispose();
            parts.CloseWriting();
        }
    }
}
