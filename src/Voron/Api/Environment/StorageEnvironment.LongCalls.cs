using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <content>Calls that take long, and run on a thread of the pool.</content>
public sealed partial class StorageEnvironment
{
    /// <summary>Runs a call that may take minutes, beside all others.</summary>
    /// <remarks>
    /// The environment's memory and files stay until the work has ended its use of them, even if another thread closes the environment, which cancels
    /// the call. The user's code is called when no lock is held.
    /// </remarks>
    /// <param name="call">What the call is.</param>
    /// <param name="work">The work. Its token is cancelled by the caller, or by the closing. It may end its use of the environment early.</param>
    /// <param name="isOnOneThread">True to begin on the caller's thread, for tests that replay what happens.</param>
    /// <param name="log">Logs the outcome.</param>
    /// <param name="trace">Reports the outcome as an activity.</param>
    /// <param name="cancellationToken">The caller's token.</param>
    private async ValueTask<T> RunLongAsync<T>(
        LongCall call, Func<CountedCall, CancellationToken, Task<T>> work, bool isOnOneThread, Action<T?, Exception?> log,
        Action<long, T?, Exception?> trace, CancellationToken cancellationToken)
        where T : class
    {
        _writing?.GroupCommit.ThrowIfInside(call.Member);
        var use = new CountedCall(_engine.Users);
        CountUnderWay(call.Work, 1);
        var began = Stopwatch.GetTimestamp();
        T? report = null;
        Exception? failure = null;
        try
        {
            using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _engine.Closing.Token);
            var token = stop.Token;
            return report = await (isOnOneThread ? work(use, token) : Task.Run(() => work(use, token), token)).ConfigureAwait(false);
        }
        catch (OperationCanceledException e) when (cancellationToken.IsCancellationRequested)
        {
            failure = new OperationCanceledException(call.OnCancel, e, cancellationToken);
            throw failure;
        }
        catch (OperationCanceledException) when (_engine.Closing.IsCancellationRequested)
        {
            failure = EndedErrors.Environment(Path, call.OnClose);
            throw failure;
        }
        catch (OutOfMemoryException e)
        {
            failure = new StorageMemoryException(call.OnNoMemory + e.Message, e);
            throw failure;
        }
        catch (Exception e)
        {
            failure = e;
            throw;
        }
        finally
        {
            CountUnderWay(call.Work, -1);
            log(report, failure);
            use.End();
            _engine.Observers.CallHere();
            GuardedLogger.WriteHere(_engine.Logger);
            trace(began, report, failure);
        }
    }

    private void CountUnderWay(LongWork work, int change)
    {
        if (work == LongWork.Compaction)
            Interlocked.Add(ref _engine.Counters.CompactionsUnderWay, change);
        else if (work == LongWork.Backup)
            Interlocked.Add(ref _engine.Counters.BackupsUnderWay, change);
    }

    private enum LongWork
    {
        Backup,
        Compaction,
        Drop,
        Trim,
        Recompression,
    }

    /// <summary>What a long call is, and the messages of its exceptions.</summary>
    /// <param name="Work">What the call does.</param>
    /// <param name="Member">The member that was called.</param>
    /// <param name="OnCancel">The message when the caller has cancelled it.</param>
    /// <param name="OnClose">The end of the message when the environment was closed.</param>
    /// <param name="OnNoMemory">The beginning of the message when there is no memory.</param>
    private readonly record struct LongCall(LongWork Work, string Member, string OnCancel, string OnClose, string OnNoMemory);
}
