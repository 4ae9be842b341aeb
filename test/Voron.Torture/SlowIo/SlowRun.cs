using System.Diagnostics.CodeAnalysis;
using Voron.IO;
using Voron.Torture.Harness;
using Voron.Torture.Simulation;

namespace Voron.Torture.SlowIo;

/// <summary>What is done beside a call that takes long.</summary>
internal enum SlowCall
{
    Dispose,
    Flush,
    ReclaimSpace,
    Verify,
    Write,
    WriteLarge,
    WriteAsync,
    CommitAsync,
    BeginWrite,
    BeginWriteAsync,
    BeginRead,
    GetStatistics,
}

/// <summary>How one call to the disk is slow.</summary>
/// <param name="Kind">Which kind of call.</param>
/// <param name="HoldsAfter">It has done its work when it is held.</param>
/// <param name="Fails">It fails in the end.</param>
/// <param name="Failing">What else fails meanwhile, or null.</param>
internal sealed record SlowPlan(DiskCallKind Kind, bool HoldsAfter, bool Fails, DiskCallKind? Failing);

/// <summary>Work on an environment of which one call to the disk takes long, and what other threads do meanwhile.</summary>
[SuppressMessage("Design", "CA1001", Justification = "A simulated disk holds nothing; the environment is closed at the end, or left to a thread that hangs.")]
[SuppressMessage("Reliability", "CA2012", Justification = "Each task is turned into an ordinary one, or its result is taken once.")]
internal sealed class SlowRun(StorageOptions options, SuiteRun run)
{
    public const int Steps = 7;

    public const int UseAndFreeStep = 5;

    public const int ReclaimStep = 6;

    private static readonly TimeSpan ShortWait = TimeSpan.FromMilliseconds(20);

    private readonly SimulatedDisk _disk = new();
    private readonly SlowLedger _ledger = new();
    private readonly List<Probe> _probes = [];
    private SlowDisk? _slow;
    private bool _readFails;
    private StorageEnvironment? _environment;

    private StorageEnvironment Environment => _environment!;

    /// <summary>Does the work with that one call held; false when the call never came.</summary>
    public bool Make(SlowPlan plan, IReadOnlyList<int> work, IReadOnlyList<SlowCall> meanwhile)
    {
        _slow = new SlowDisk(_disk);
        _readFails = plan is { Kind: DiskCallKind.Read, Fails: true };
        _environment = StorageEnvironment.Open(_slow, options);
        Do(0);
        Do(1);
        _slow.Arm(call => call.Kind == plan.Kind, plan.HoldsAfter, plan.Fails);
        bool isDone = false;
        var worker = new Probe("The work", () =>
        {
            foreach (int step in work)
                Do(step);
            Volatile.Write(ref isDone, true);
        });
        while (!_slow.WaitUntilHeld(TimeSpan.FromMilliseconds(2)) && !worker.HasEnded)
        {
        }
        bool isHeld = _slow.IsHolding;
        if (isHeld)
            run.Tell($"{_slow.Held.Kind} of '{_slow.Held.Name}' takes long");
        if (isHeld && plan.Failing is { } failing)
            _disk.FailNext(call => call.Kind == failing, DiskError.Failed, forever: true);
        foreach (SlowCall call in meanwhile)
            Begin(call, plan.Kind);
        foreach (Probe probe in _probes)
            probe.WaitUntilBlocked();
        _disk.ClearFaults();
        _slow.Release();
        worker.RequireEnd("after the slow call has returned");
        RequireKnown(worker);
        Finish();
        return isHeld;
    }

    private void Finish()
    {
        Probe? closing = _probes.Find(probe => probe.Name == nameof(SlowCall.Dispose));
        if (closing is not null)
        {
            closing.RequireEnd("although no call to the disk takes long any more");
            OpenAtOnce();
        }
        foreach (Probe probe in _probes)
        {
            probe.RequireEnd("although no call to the disk takes long any more");
            RequireKnown(probe);
        }
        var last = new Probe(nameof(SlowCall.Dispose), Environment.Dispose);
        last.RequireEnd("at the end");
        RequireKnown(last);
        BrokenPromiseException.Require(_slow!.Violation is null, _slow.Violation ?? "");
        BrokenPromiseException.Require(
            _disk is { OpenFiles: 0, LiveMaps: 0, HeldLocks: 0 },
            $"{_disk.OpenFiles} files, {_disk.LiveMaps} maps and {_disk.HeldLocks} locks are left of a closed environment.");
        SimulatedDisk? lost = closing is null ? new CrashImages(_disk).BuildLost(_disk.TraceCount) : null;
        using (StorageEnvironment again = StorageEnvironment.Open(_disk, options))
            _ledger.Check(again, "opened again");

        // Power that fails behind several openings is for other suites.
        if (lost is not null)
        {
            using StorageEnvironment afterLoss = StorageEnvironment.Open(lost, options);
            _ledger.Check(afterLoss, "after a power cut");
        }
        run.Tally("acknowledged", _ledger.Acknowledged);
    }

    // Whoever has closed an environment opens it again, whatever other threads are still in: what they are told later has to hold there.
    private void OpenAtOnce()
    {
        long deadline = System.Environment.TickCount64 + (long)Probe.Patience.TotalMilliseconds;
        while (true)
        {
            try
            {
                using StorageEnvironment next = StorageEnvironment.Open(_disk, options);
                int key = _ledger.Add(100);
                _ledger.Commit(key, () => Commit(next, key));
                return;
            }
            catch (EnvironmentInUseException) when (System.Environment.TickCount64 < deadline)
            {
                // A transaction is still open, by a thread that goes on.
                Thread.Yield();
            }
        }
    }

    private void Begin(SlowCall call, DiskCallKind held)
    {
        if (_slow!.IsHolding)
            run.Tell($"meanwhile {call}");
        var probe = new Probe(call.ToString(), () => Call(call));
        _probes.Add(probe);

        // None of these waits for the device: they end while it is slow.
        bool isQuick = call is SlowCall.BeginRead or SlowCall.GetStatistics or SlowCall.BeginWrite or SlowCall.BeginWriteAsync;
        if (isQuick && held != DiskCallKind.Read)
            probe.RequireEnd($"while {held} takes long");
    }

    private void Call(SlowCall call)
    {
        switch (call)
        {
            case SlowCall.Dispose:
                Environment.Dispose();
                break;
            case SlowCall.Flush:
                Environment.Flush();
                break;
            case SlowCall.ReclaimSpace:
                Environment.ReclaimSpace();
                break;
            case SlowCall.Verify:
                VerificationReport report = Environment.Verify();

                // What cannot be read is a problem that it has to tell of.
                BrokenPromiseException.Require(report.IsSound || _readFails, $"meanwhile: {report}");
                break;
            case SlowCall.Write:
                Do(0);
                break;
            case SlowCall.WriteLarge:
                Do(1);
                break;
            case SlowCall.WriteAsync:
                Do(3);
                break;
            case SlowCall.CommitAsync:
                Do(2);
                break;
            case SlowCall.BeginWrite:
                Environment.BeginWrite(ShortWait).Dispose();
                break;
            case SlowCall.BeginWriteAsync:
                // The call returns at once; what it begins ends when it can.
                _ = Environment.BeginWriteAsync().AsTask().ContinueWith(
                    begun => begun.Result.Dispose(), CancellationToken.None, TaskContinuationOptions.OnlyOnRanToCompletion, TaskScheduler.Default);
                break;
            case SlowCall.BeginRead:
                Environment.BeginRead().Dispose();
                break;
            case SlowCall.GetStatistics:
                _ = Environment.GetStatistics().PageCount;
                break;
            default:
                throw new ArgumentOutOfRangeException(nameof(call));
        }
    }

    private void Do(int step)
    {
        switch (step)
        {
            case 0:
                Commit(_ledger.Add(200), wait: true);
                break;
            case 1:
                Commit(_ledger.Add(50_000), wait: true);
                break;
            case 2:
                Commit(_ledger.Add(200), wait: false);
                break;
            case 3:
                int key = _ledger.Add(300);
                _ledger.Commit(key, () => Environment.WriteAsync(writing => _ledger.Put(writing, key)).AsTask().GetAwaiter().GetResult());
                break;
            case 4:
                Environment.Flush();
                break;
            case UseAndFreeStep:
                UseAndFree();
                break;
            default:
                Environment.ReclaimSpace();
                break;
        }
    }

    private void Commit(int key, bool wait) => _ledger.Commit(key, () =>
    {
        if (wait)
        {
            Commit(Environment, key);
            return;
        }
        using WriteTransaction writing = Environment.BeginWrite();
        _ledger.Put(writing, key);
        writing.CommitAsync().AsTask().GetAwaiter().GetResult();
    });

    private void Commit(StorageEnvironment environment, int key)
    {
        using WriteTransaction writing = environment.BeginWrite();
        _ledger.Put(writing, key);
        writing.Commit();
    }

    // Leaves whole sections free, to be given back.
    private void UseAndFree()
    {
        using (WriteTransaction writing = Environment.BeginWrite())
        {
            writing.CreateTree("ballast").Put([1], new byte[5 << 20]);
            writing.Commit();
        }
        using (WriteTransaction writing = Environment.BeginWrite())
        {
            writing.DeleteTree("ballast");
            writing.Commit();
        }
        Environment.Flush();
    }

    // A call may be refused in these ways beside failures and a closing, and in no other.
    private static void RequireKnown(Probe probe)
    {
        if (probe.Thrown is not (null or ObjectDisposedException or EnvironmentPoisonedException or StorageAccessException
            or StorageFullException or TimeoutException))
            throw new BrokenPromiseException($"{probe.Name} fails: {probe.Thrown}", probe.Thrown);
    }
}
