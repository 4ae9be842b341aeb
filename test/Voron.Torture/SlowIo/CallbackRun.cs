using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.SlowIo;

/// <summary>The places where the engine calls the user's code.</summary>
internal enum CallbackPlace
{
    CommitObserver,
    FlushObserver,
    SlowReaderObserver,
    ScrubObserver,
    Log,
    GroupCommitOperation,
}

/// <summary>The actions of the user's code there.</summary>
internal enum CallbackDeed
{
    Throw,
    Block,
    BeginRead,
    Write,
    WriteAsync,
    Flush,
    ReclaimSpace,
    Verify,
    GetStatistics,
    Dispose,
}

/// <summary>Works on an environment whose callbacks do everything that they are allowed to do.</summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each task is turned into an ordinary one.")]
[SuppressMessage("Design", "CA1001", Justification = "A thread that hangs may still look at it.")]
internal sealed class CallbackRun(IReadOnlyList<(CallbackPlace Place, CallbackDeed Deed, int At)> deeds, SuiteRun run)
{
    private static readonly TimeSpan ShortWait = TimeSpan.FromMilliseconds(20);

    private readonly SimulatedDisk _disk = new();
    private readonly SlowLedger _ledger = new();
    private readonly ManualResetEventSlim _mayReturn = new();
    private readonly ConcurrentDictionary<int, bool> _blockedThreads = new();
    private readonly List<Probe> _heldUp = [];
    private readonly int[] _calls = new int[Enum.GetValues<CallbackPlace>().Length];
    private readonly Lock _gate = new();
    private StorageEnvironment? _environment;
    private bool _isDisposed;
    private string? _problem;
    private int _done;
    private int _blockedOperations;

    [ThreadStatic]
    private static bool IsInside;

    private StorageEnvironment Environment => _environment!;

    /// <param name="closesBeside">Closes the environment while an operation of a group commit blocks, if one does.</param>
    public void Make(bool inBackground, int threads, int commits, bool hasReader, bool closesBeside)
    {
        _environment = StorageEnvironment.Open(_disk, Options(inBackground));
        ReadTransaction? reading = hasReader ? Environment.BeginRead() : null;
        List<Probe> workers = [.. Enumerable.Range(0, threads).Select(i => new Probe($"thread {i}", () => Work(commits)))];
        foreach (var worker in workers)
        {
            // A caller whose own commit calls a blocking observer waits for it; other callers do not.
            worker.WaitUntilBlocked();
        }
        var other = new Probe("a commit of another thread", () => Write(wait: false));
        // An engine that calls an observer where it must not may never end this commit: the wait has an end, and the calls below fail then.
        while (!other.HasEnded && !IsOperationBlocked && !_blockedThreads.ContainsKey(other.ThreadId) && other.Age <= Probe.Patience)
            Thread.Sleep(1);
        if (IsOperationBlocked)
            CheckBesideOperation(closesBeside);
        _mayReturn.Set();
        foreach (var worker in workers.Append(other).Concat(_heldUp))
        {
            worker.RequireEnd("when all callbacks have returned");
            RequireKnown(worker);
        }
        BrokenPromiseException.Require(!IsPoisoned(), "A callback has poisoned the environment.");
        reading?.Dispose();

        // From here on, a callback that is still running may find the environment closed.
        Volatile.Write(ref _isDisposed, true);
        var closing = new Probe(nameof(IDisposable.Dispose), Environment.Dispose);
        closing.RequireEnd("at the end");
        RequireKnown(closing);
        BrokenPromiseException.Require(_problem is null, _problem ?? "");
        BrokenPromiseException.Require(SpinWait.SpinUntil(() => _disk.HeldLocks == 0, Probe.Patience), "The environment stays locked.");
        using var again = StorageEnvironment.Open(_disk, new StorageOptions { BackgroundFlush = false });
        _ledger.Check(again, "opened again");
        run.Count(Volatile.Read(ref _done));
        run.Tally("acknowledged", _ledger.Acknowledged);
    }

    private bool IsOperationBlocked => Volatile.Read(ref _blockedOperations) > 0;

    // An operation of a group commit holds the writer. Callers that want the writer wait for as long as they specified; all others continue.
    private void CheckBesideOperation(bool closes)
    {
        run.Tally("operations that blocked");
        RequireEndBeside(nameof(Environment.BeginRead), () => Environment.BeginRead().Dispose());
        RequireEndBeside(nameof(Environment.GetStatistics), () => _ = Environment.GetStatistics().PageCount);
        RequireEndBeside(nameof(Environment.Verify), () => BrokenPromiseException.Require(Environment.Verify().IsSound, "Verify finds something."));
        RequireEndBeside(nameof(Environment.Flush), () => Environment.Flush());
        RequireEndBeside(nameof(Environment.BeginWrite), () =>
        {
            try
            {
                Environment.BeginWrite(ShortWait).Dispose();
            }
            catch (TimeoutException)
            {
                return;
            }
            throw new BrokenPromiseException("BeginWrite gets the writer that an operation of a group commit has.");
        });
        if (!closes)
            return;
        run.Tally("closed beside an operation that blocked");
        Volatile.Write(ref _isDisposed, true);
        RequireEndBeside(nameof(Environment.Dispose), Environment.Dispose);
        BrokenPromiseException.Require(_disk.HeldLocks > 0, "The directory is free while an operation is under way in it.");
    }

    private void RequireEndBeside(string name, Action action)
    {
        var probe = new Probe(name, action);
        while (!probe.HasEnded)
        {
            // The call has finished its work and called a blocking observer, so it waits as long as that blocks.
            if (_blockedThreads.ContainsKey(probe.ThreadId))
            {
                run.Tally("calls that an observer held up");
                _heldUp.Add(probe);
                return;
            }
            if (probe.Age > Probe.Patience)
                break;
            Thread.Sleep(1);
        }
        probe.RequireEnd("beside an operation of a group commit that blocks");
        RequireKnown(probe);
    }

    private bool IsPoisoned()
    {
        try
        {
            return Environment.GetStatistics().IsPoisoned;
        }
        catch (ObjectDisposedException) when (Volatile.Read(ref _isDisposed))
        {
            return false;
        }
    }

    private StorageOptions Options(bool inBackground) => new()
    {
        JournaledValueBytes = 0,
        BackgroundFlush = inBackground,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 64 << 10,
        FlushThresholdBytes = 64 << 10,
        JournalLimitBytes = 512 << 10,
        FlushInterval = TimeSpan.FromMilliseconds(1),
        ScrubInterval = TimeSpan.FromMilliseconds(2),
        SlowReaderInterval = TimeSpan.FromMilliseconds(1),
        LoggerFactory = OneLoggerFactory.Of(new CallbackLogger(this)),
        CommitObserver = _ => Call(CallbackPlace.CommitObserver),
        FlushObserver = _ => Call(CallbackPlace.FlushObserver),
        SlowReaderObserver = _ => Call(CallbackPlace.SlowReaderObserver),
        ScrubObserver = _ => Call(CallbackPlace.ScrubObserver),
    };

    private void Work(int commits)
    {
        for (var i = 0; i < commits; i++)
        {
            if (i % 4 == 3)
                Environment.Flush();
            if (i % 3 == 2)
                RunGroupCommit();
            else
                Write(wait: i % 2 == 0);
        }
    }

    private void Write(bool wait)
    {
        var key = _ledger.Add(4000);
        _ledger.Commit(key, () =>
        {
            using var writing = Environment.BeginWrite();
            _ledger.Put(writing, key);
            if (wait)
                writing.Commit();
            else
                writing.CommitAsync().AsTask().GetAwaiter().GetResult();
        });
    }

    private void RunGroupCommit()
    {
        var key = _ledger.Add(500);
        try
        {
            _ledger.Commit(key, () => Environment.WriteAsync(writing =>
            {
                _ledger.Put(writing, key);
                Call(CallbackPlace.GroupCommitOperation);
            }).AsTask().GetAwaiter().GetResult());
        }
        catch (PlannedException)
        {
            _ledger.Refuse(key);
        }
    }

    private void Call(CallbackPlace place)
    {
        // Actions of a callback trigger callbacks too.
        if (IsInside || _environment is null)
            return;
        var number = Interlocked.Increment(ref _calls[(int)place]) - 1;
        foreach ((var wanted, var deed, var at) in deeds)
        {
            if (wanted != place || at != number)
                continue;
            IsInside = true;
            try
            {
                Do(deed, place);
            }
            catch (Exception e) when (e is ObjectDisposedException or TimeoutException && Volatile.Read(ref _isDisposed))
            {
            }
            catch (Exception e) when (e is not PlannedException)
            {
                lock (_gate)
                    _problem ??= $"{deed} in a {place} fails: {e}";
            }
            finally
            {
                IsInside = false;
                Interlocked.Increment(ref _done);
            }
        }
    }

    private void Do(CallbackDeed deed, CallbackPlace place)
    {
        // In an operation that holds the writer, calls that would wait for it are refused.
        var isRefused = place == CallbackPlace.GroupCommitOperation
            && deed is CallbackDeed.Write or CallbackDeed.WriteAsync or CallbackDeed.Flush or CallbackDeed.ReclaimSpace or CallbackDeed.Dispose;
        try
        {
            DoUnguarded(deed, place);
        }
        catch (InvalidOperationException e) when (isRefused && e is not ObjectDisposedException)
        {
            return;
        }
        BrokenPromiseException.Require(!(isRefused && place == CallbackPlace.GroupCommitOperation), $"{deed} is not refused in an operation of a group commit.");
    }

    private void DoUnguarded(CallbackDeed deed, CallbackPlace place)
    {
        switch (deed)
        {
            case CallbackDeed.Throw:
                throw new PlannedException();
            case CallbackDeed.Block:
                Block(place);
                break;
            case CallbackDeed.BeginRead:
                using (var reading = Environment.BeginRead())
                    _ = reading.GetTreeNames();
                break;
            case CallbackDeed.Write:
                using (var writing = Environment.BeginWrite())
                {
                    writing.CreateTree("callback").Put([1], [2]);
                    writing.Commit();
                }
                break;
            case CallbackDeed.WriteAsync:
                Environment.WriteAsync(writing => writing.CreateTree("group commit")).AsTask().WaitAsync(Probe.Patience).GetAwaiter().GetResult();
                break;
            case CallbackDeed.Flush:
                Environment.Flush();
                break;
            case CallbackDeed.ReclaimSpace:
                Reclaim();
                break;
            case CallbackDeed.Verify:
                BrokenPromiseException.Require(Environment.Verify().IsSound, "Verify finds something.");
                break;
            case CallbackDeed.GetStatistics:
                _ = Environment.GetStatistics().PageCount;
                break;
            default:
                Close(place);
                break;
        }
    }

    private void Block(CallbackPlace place)
    {
        if (place == CallbackPlace.GroupCommitOperation)
            Interlocked.Increment(ref _blockedOperations);
        _blockedThreads[System.Environment.CurrentManagedThreadId] = true;
        _mayReturn.Wait(Probe.Patience);
        _blockedThreads.TryRemove(System.Environment.CurrentManagedThreadId, out _);
        if (place == CallbackPlace.GroupCommitOperation)
            Interlocked.Decrement(ref _blockedOperations);
    }

    private void Reclaim()
    {
        try
        {
            Environment.ReclaimSpace();
        }
        catch (TimeoutException)
        {
            // Another thread has the writer.
        }
    }

    private void Close(CallbackPlace place)
    {
        if (place != CallbackPlace.GroupCommitOperation)
            Volatile.Write(ref _isDisposed, true);
        Environment.Dispose();
    }

    private void RequireKnown(Probe probe)
    {
        if (probe.Thrown is null || (Volatile.Read(ref _isDisposed) && probe.Thrown is ObjectDisposedException))
            return;
        throw new BrokenPromiseException($"{probe.Name} fails: {probe.Thrown}", probe.Thrown);
    }

    private sealed class PlannedException() : Exception("planned");

    private sealed class CallbackLogger(CallbackRun owner) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            owner.Call(CallbackPlace.Log);
    }
}
