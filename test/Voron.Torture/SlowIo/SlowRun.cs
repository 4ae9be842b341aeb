using System.Diagnostics.CodeAnalysis;
using Voron.IO;
using Voron.Torture.Harness;
using Voron.Torture.Simulation;

namespace Voron.Torture.SlowIo;

/// <summary>The calls that are made while others take long.</summary>
internal enum SlowCall
{
    Dispose,
    Flush,
    ReclaimSpace,
    Verify,
    Write,
    WriteLarge,
    WriteStream,
    WriteMerged,
    WriteAsync,
    CommitAsync,
    RollBack,
    Nested,
    BeginWrite,
    BeginWriteAsync,
    BeginRead,
    ReadCursor,
    ReadRange,
    ReadStreams,
    ReadBatch,
    GetStatistics,
    Rewrite,
    TrimMemory,
}

/// <summary>The phases in which calls take long.</summary>
internal enum SlowPhase
{
    Opening,
    Work,
    Closing,
}

/// <summary>One phase of a run.</summary>
/// <param name="Holds">The calls that take long.</param>
/// <param name="Failing">The calls that fail meanwhile, or null.</param>
/// <param name="FailsOn">True if they fail until all calls have returned, not only until the first is released.</param>
/// <param name="Meanwhile">The calls that other threads make meanwhile.</param>
/// <param name="ReleaseOrder">Decides the order in which the calls are released.</param>
internal sealed record SlowPlan(
    IReadOnlyList<SlowHold> Holds, DiskCallKind? Failing, bool FailsOn, IReadOnlyList<SlowCall> Meanwhile, int ReleaseOrder)
{
    public static readonly SlowPlan Quick = new([], null, false, [], 0);

    public override string ToString() =>
        $"slow: {string.Join(", ", Holds)}; failing: {Failing?.ToString() ?? "nothing"}{(FailsOn ? ", until all have returned" : "")}; "
        + $"meanwhile: {string.Join(", ", Meanwhile)}";
}

/// <summary>Works on an environment whose calls to the disk take long, and makes calls on other threads meanwhile.</summary>
[SuppressMessage("Design", "CA1001", Justification = "A simulated disk holds nothing; the environment is closed at the end, or left to a thread that hangs.")]
[SuppressMessage("Reliability", "CA2012", Justification = "Each task is turned into an ordinary one, or its result is taken once.")]
internal sealed class SlowRun(StorageOptions options, SuiteRun run)
{
    public const int Steps = 10;

    public const int UseAndFreeStep = 5;

    public const int ReclaimStep = 6;

    private static readonly TimeSpan ShortWait = TimeSpan.FromMilliseconds(20);

    private readonly SlowLedger _ledger = new();
    private readonly List<Probe> _probes = [];
    private readonly List<(int Cut, IReadOnlyList<int> Keys)> _cuts = [];
    private SimulatedDisk _disk = new();
    private SlowDisk? _slow;
    private volatile bool _readFails;
    private StorageEnvironment? _environment;

    /// <summary>The number of calls that were held.</summary>
    public int HeldCalls { get; private set; }

    private StorageEnvironment Environment => _environment!;

    /// <summary>Creates an environment to open, which was closed, or whose process was killed.</summary>
    public void Prepare(IReadOnlyList<int> work, bool isKilled)
    {
        _environment = StorageEnvironment.Open(_disk, options);
        Do(0);
        Do(1);
        foreach (int step in work)
            Do(step);
        SimulatedDisk? killed = isKilled ? new CrashImages(_disk).BuildKilled(_disk.TraceCount) : null;
        Environment.Dispose();
        _disk = killed ?? _disk;
    }

    /// <summary>Opens the environment, works with it on several threads, and closes it.</summary>
    /// <param name="plan">The slow calls, by phase.</param>
    /// <param name="work">The steps of each working thread.</param>
    /// <param name="keepsReader">True to keep a reader open all the time, which leaves flushes little to do.</param>
    /// <param name="random">Decides the outcome of power cuts.</param>
    public void Make(IReadOnlyDictionary<SlowPhase, SlowPlan> plan, IReadOnlyList<IReadOnlyList<int>> work, bool keepsReader, Random random)
    {
        Open(plan[SlowPhase.Opening]);
        ReadTransaction? held = keepsReader ? Environment.BeginRead() : null;
        List<Probe> workers = [.. work.Select((steps, i) => Start($"Thread {i}", () =>
        {
            foreach (int step in steps)
                Do(step);
        }))];
        During(SlowPhase.Work, plan[SlowPhase.Work], workers);
        foreach (Probe worker in workers)
            Require(worker, "after the slow calls have returned");
        ReadHeld(held);
        Close(plan[SlowPhase.Closing], held);
        Finish(random);
    }

    private void Open(SlowPlan plan)
    {
        _environment = null;
        _slow = new SlowDisk(_disk);
        _slow.Arm(plan.Holds);
        Probe opening = Start("Open", () => _environment = StorageEnvironment.Open(_slow, options));
        WaitUntilHeld(plan, [opening]);
        List<Probe> others = [];
        if (_slow.Held.Count > 0)
        {
            // Until the lock is taken, another opening may be first; after that it is refused.
            foreach (SlowCall _ in plan.Meanwhile)
                others.Add(Start("Another Open", OpenBeside));
            foreach (Probe other in others)
                other.WaitUntilBlocked();
        }
        CountHeld(SlowPhase.Opening, plan);
        Release(plan, [opening]);
        foreach (Probe probe in others.Append(opening))
            Require(probe, "after the slow calls of an opening have returned", isOpening: true);
        if (_environment is not null)
            return;
        RequireQuiet("of an opening that has failed");
        run.Tally("openings that failed");
        _slow = new SlowDisk(_disk);
        _environment = StorageEnvironment.Open(_slow, options);
    }

    private void OpenBeside()
    {
        using StorageEnvironment other = StorageEnvironment.Open(_disk, options);
        int key = _ledger.Add(100);
        _ledger.Commit(key, () => Commit(other, key));
    }

    private void Close(SlowPlan plan, ReadTransaction? held)
    {
        _slow!.Arm(plan.Holds);
        Probe closing = Start(nameof(SlowCall.Dispose), Environment.Dispose);
        During(SlowPhase.Closing, plan, [closing]);
        Require(closing, "although no call to the disk takes long any more");

        // A reader may finish its work, even if the environment was closed meanwhile.
        ReadHeld(held);
        held?.Dispose();
        OpenAtOnce();
    }

    private void ReadHeld(ReadTransaction? held)
    {
        if (held is not { } reading)
            return;
        foreach (SlowReading how in Enum.GetValues<SlowReading>())
        {
            try
            {
                _ledger.Read(reading, how);
            }
            catch (StorageAccessException) when (_readFails)
            {
            }
        }
    }

    private void During(SlowPhase phase, SlowPlan plan, IReadOnlyList<Probe> workers)
    {
        if (phase == SlowPhase.Work)
            _slow!.Arm(plan.Holds);
        WaitUntilHeld(plan, workers);
        if (_slow!.Held.Count > 0)
        {
            foreach (SlowCall call in plan.Meanwhile)
                Begin(call);
            foreach (Probe probe in _probes)
                probe.WaitUntilBlocked();

            // No cut from here on may lose anything that has been acknowledged by now.
            IReadOnlyList<int> keys = _ledger.AcknowledgedKeys;
            _cuts.Add((_disk.TraceCount, keys));
        }
        CountHeld(phase, plan);
        Release(plan, [.. workers, .. _probes]);
    }

    private void WaitUntilHeld(SlowPlan plan, IReadOnlyList<Probe> workers)
    {
        // Several calls come one after the other only as long as threads can continue.
        while (_slow!.StillArmed > 0 && !workers.All(worker => worker.HasEnded || worker.SeemsBlocked))
            Thread.Sleep(1);
        SpinWait.SpinUntil(() => _slow.Held.All(held => held.IsWaiting), Probe.Patience);
        if (plan.Failing is { } failing && _slow.Held.Count > 0)
        {
            _readFails |= failing == DiskCallKind.Read;
            _disk.FailNext(call => call.Kind == failing, DiskError.Failed, forever: true);
        }
        _readFails |= plan.Holds.Any(hold => hold is { Kind: DiskCallKind.Read, Fails: true });
    }

    // Calls of other threads meanwhile may be held too.
    private void CountHeld(SlowPhase phase, SlowPlan plan)
    {
        IReadOnlyList<SlowDisk.HeldCall> held = _slow!.Held;
        foreach (SlowDisk.HeldCall call in held)
        {
            run.Tell($"{call.Call.Kind} of '{call.Call.Name}' takes long");
            run.Tally($"slow {call.Call.Kind}");
        }
        HeldCalls += held.Count;
        run.Tally($"slow in {phase}", held.Count);
        run.Tally("several slow at once", held.Count > 1 ? 1 : 0);
        run.Tally("beside failures", held.Count > 0 && plan.Failing is not null ? 1 : 0);
    }

    private void Release(SlowPlan plan, IReadOnlyList<Probe> waiting)
    {
        if (!plan.FailsOn)
            _disk.ClearFaults();
        _slow!.Disarm();
        for (int order = plan.ReleaseOrder; _slow.Held is { Count: > 0 } held; order /= 4)
        {
            _slow.Release(held[order % held.Count]);
            Thread.Yield();
        }
        if (plan.FailsOn)
        {
            foreach (Probe probe in waiting)
                probe.WaitUntilBlocked();
            _disk.ClearFaults();
        }
    }

    private void Finish(Random random)
    {
        foreach (Probe probe in _probes)
            Require(probe, "although no call to the disk takes long any more");
        RequireQuiet("of a closed environment");
        _cuts.Add((_disk.TraceCount, _ledger.AcknowledgedKeys));
        using (StorageEnvironment again = StorageEnvironment.Open(_disk, options))
            _ledger.Check(again, "opened again");
        var images = new CrashImages(_disk);
        foreach ((int cut, IReadOnlyList<int> keys) in _cuts)
        {
            CheckImage(images.BuildLost(cut), keys, $"after a power cut at {cut} that lost as much as it could");
            CheckImage(images.Build(cut, new Random(random.Next())), keys, $"after a power cut at {cut}");
        }
        run.Tally("power cuts", 2 * _cuts.Count);
        run.Tally("acknowledged", _ledger.Acknowledged);
    }

    private void CheckImage(SimulatedDisk image, IReadOnlyList<int> keys, string when)
    {
        using StorageEnvironment environment = StorageEnvironment.Open(image, options);
        _ledger.CheckHas(environment, keys, when);
    }

    private void RequireQuiet(string whose)
    {
        BrokenPromiseException.Require(_slow!.Violation is null, _slow.Violation ?? "");

        // The last user of an environment releases it; that may be a thread of the pool.
        SpinWait.SpinUntil(() => _disk is { OpenFiles: 0, LiveMaps: 0, HeldLocks: 0 }, Probe.Patience);
        BrokenPromiseException.Require(
            _disk is { OpenFiles: 0, LiveMaps: 0, HeldLocks: 0 },
            $"{_disk.OpenFiles} files, {_disk.LiveMaps} maps and {_disk.HeldLocks} locks are left {whose}.");
    }

    // A caller that has closed an environment may open it again, even if other threads are still using it: outcomes reported to them later
    // have to hold there.
    private void OpenAtOnce()
    {
        long deadline = System.Environment.TickCount64 + (long)Probe.Patience.TotalMilliseconds;
        while (true)
        {
            try
            {
                OpenBeside();
                return;
            }
            catch (EnvironmentInUseException) when (System.Environment.TickCount64 < deadline)
            {
                // A transaction is still open, on a thread that continues.
                Thread.Yield();
            }
        }
    }

    private static Probe Start(string name, Action action) => new(name, action);

    private void Begin(SlowCall call)
    {
        bool readIsSlow = _slow!.Held.Any(held => held.Hold.Kind == DiskCallKind.Read);
        Probe probe = Start(call.ToString(), () => Call(call));
        _probes.Add(probe);

        // None of these calls waits for the device: they end while it is slow.
        bool isQuick = call is SlowCall.BeginRead or SlowCall.GetStatistics or SlowCall.BeginWrite or SlowCall.BeginWriteAsync;
        if (isQuick && !readIsSlow)
            probe.RequireEnd($"while {string.Join(" and ", _slow.Held.Select(held => held.Call.Kind))} takes long");
    }

    private void Call(SlowCall call)
    {
        switch (call)
        {
            case SlowCall.Dispose:
                Environment.Dispose();
                break;
            case SlowCall.Flush:
                Do(4);
                break;
            case SlowCall.ReclaimSpace:
                Do(ReclaimStep);
                break;
            case SlowCall.Verify:
                VerificationReport report = Environment.Verify();

                // Data that cannot be read is a problem that the report has to contain.
                BrokenPromiseException.Require(report.IsSound || _readFails, $"meanwhile: {report}");
                break;
            case SlowCall.Write:
                Do(0);
                break;
            case SlowCall.WriteLarge:
                Do(1);
                break;
            case SlowCall.WriteStream:
                Write(_ledger.Add(30_000), _ledger.PutStream);
                break;
            case SlowCall.WriteMerged:
                int key = _ledger.Add(400);
                _ledger.Commit(key, () => Environment.Write(writing => _ledger.Put(writing, key)));
                break;
            case SlowCall.WriteAsync:
                Do(3);
                break;
            case SlowCall.CommitAsync:
                Do(2);
                break;
            case SlowCall.RollBack:
                int refused = _ledger.Add(30_000);
                _ledger.Refuse(refused);
                using (WriteTransaction writing = Environment.BeginWrite())
                    _ledger.Put(writing, refused);
                break;
            case SlowCall.Nested:
                Write(_ledger.Add(300), WriteNested);
                break;
            case SlowCall.BeginWrite:
                Environment.BeginWrite(ShortWait).Dispose();
                break;
            case SlowCall.BeginWriteAsync:
                // The call returns at once; the transaction that it requests ends when it can.
                _ = Environment.BeginWriteAsync().AsTask().ContinueWith(
                    begun => begun.Result.Dispose(), CancellationToken.None, TaskContinuationOptions.OnlyOnRanToCompletion, TaskScheduler.Default);
                break;
            case SlowCall.BeginRead:
                Environment.BeginRead().Dispose();
                break;
            case SlowCall.GetStatistics:
                _ = Environment.GetStatistics().PageCount;
                break;
            case SlowCall.Rewrite:
                Environment.Internals.WriteJournalSnapshot();
                break;
            case SlowCall.TrimMemory:
                Environment.Internals.TrimMemory();
                break;
            default:
                using (ReadTransaction reading = Environment.BeginRead())
                    _ledger.Read(reading, (SlowReading)(call - SlowCall.ReadCursor));
                break;
        }
    }

    private void WriteNested(WriteTransaction writing, int key)
    {
        using (NestedTransaction undone = writing.BeginNested())
            writing.CreateTree("undone").Put([1], new byte[20_000]);
        using NestedTransaction kept = writing.BeginNested();
        _ledger.Put(writing, key);
        kept.Commit();
    }

    private void Do(int step)
    {
        switch (step)
        {
            case 0:
                Write(_ledger.Add(200), _ledger.Put);
                break;
            case 1:
                Write(_ledger.Add(50_000), _ledger.Put);
                break;
            case 2:
                Write(_ledger.Add(200), _ledger.Put, wait: false);
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
            case ReclaimStep:
                Environment.ReclaimSpace();
                break;
            case 7:
                Environment.Internals.WriteJournalSnapshot();
                break;
            case 8:
                Call(SlowCall.Verify);
                break;
            default:
                Call(SlowCall.ReadStreams);
                break;
        }
    }

    private void Write(int key, Action<WriteTransaction, int> put, bool wait = true) => _ledger.Commit(key, () =>
    {
        using WriteTransaction writing = Environment.BeginWrite();
        put(writing, key);
        if (wait)
            writing.Commit();
        else
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

        // Placed behind the ballast, so that the file is not only truncated.
        Do(1);
        using (WriteTransaction writing = Environment.BeginWrite())
        {
            writing.DeleteTree("ballast");
            writing.Commit();
        }
        Environment.Flush();
    }

    private static void Require(Probe probe, string when, bool isOpening = false)
    {
        probe.RequireEnd(when);

        // These are the only ways in which a call may be refused during failures and a close.
        bool isKnown = probe.Thrown is null or ObjectDisposedException or EnvironmentPoisonedException or StorageAccessException
            or StorageFullException or TimeoutException;
        if (!isKnown && !(isOpening && probe.Thrown is EnvironmentInUseException))
            throw new BrokenPromiseException($"{probe.Name} fails: {probe.Thrown}", probe.Thrown);
    }
}
