using System.Diagnostics;
using Voron.Opening;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>Runs calls that may take minutes on a pool thread, concurrently with all others.</summary>
/// <remarks>
/// The environment's memory and files remain until the work no longer uses them, even if another thread closes the environment, which cancels the
/// call. User code is called with no lock held.
/// </remarks>
/// <param name="opened">The environment.</param>
internal sealed class LongCalls(OpenedEngine opened)
{
    private readonly EngineCore _engine = opened.Engine;

    /// <summary>Runs a call whose outcome is neither logged nor reported as an activity.</summary>
    public ValueTask<T> RunAsync<T>(LongCall call, Func<CancellationToken, Task<T>> work, CancellationToken cancellationToken) =>
        RunAsync(call, (_, stop) => work(stop), isOnOneThread: false, (_, _) => { }, (_, _, _) => { }, cancellationToken);

    /// <summary>Runs a call.</summary>
    /// <param name="call">The description of the call.</param>
    /// <param name="work">
    /// The work. Its token is cancelled by the caller, or when the environment is closed. It may end its use of the environment early.
    /// </param>
    /// <param name="isOnOneThread">True to begin on the caller's thread, for tests that replay a run.</param>
    /// <param name="log">Logs the outcome.</param>
    /// <param name="trace">Reports the outcome as an activity.</param>
    /// <param name="cancellationToken">The caller's token.</param>
    public async ValueTask<T> RunAsync<T>(
        LongCall call, Func<CountedCall, CancellationToken, Task<T>> work, bool isOnOneThread, Action<T?, Exception?> log,
        Action<long, T?, Exception?> trace, CancellationToken cancellationToken)
    {
        opened.Writing?.GroupCommit.ThrowIfInside(call.Member);
        var use = new CountedCall(_engine.Users);
        CountUnderWay(call.Work, 1);
        var began = Stopwatch.GetTimestamp();
        var report = default(T);
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
            failure = EndedErrors.Environment(_engine.Disk.Path, call.OnClose);
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

    /// <summary>Refuses a call that would wait for a transaction of its own thread.</summary>
    /// <exception cref="InvalidOperationException">The thread has a write transaction open, or is inside a group-commit operation.</exception>
    public void ThrowIfWriterHeldHere(string call)
    {
        opened.Writing?.GroupCommit.ThrowIfInside(call);
        opened.Writing?.Entrance.ThrowIfOwn(call);
    }

    private void CountUnderWay(LongWork work, int change)
    {
        if (work == LongWork.Compaction)
            Interlocked.Add(ref _engine.Counters.CompactionsUnderWay, change);
        else if (work == LongWork.Backup)
            Interlocked.Add(ref _engine.Counters.BackupsUnderWay, change);
    }
}
