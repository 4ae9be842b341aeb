using System.Diagnostics.CodeAnalysis;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.SlowIo;

/// <summary>Works on an environment whose calls to the disk take long, and makes calls on other threads meanwhile.</summary>
[SuppressMessage("Design", "CA1001", Justification = "A simulated disk holds nothing; the environment is closed at the end, or left to a thread that hangs.")]
internal sealed class SlowRun
{
    private readonly StorageOptions _options;
    private readonly SuiteRun _run;
    private readonly SlowLedger _ledger = new();
    private readonly SlowWork _work;
    private readonly List<Probe> _probes = [];
    private readonly List<(int Cut, IReadOnlyList<int> Keys)> _cuts = [];
    private SimulatedDisk _disk = new();
    private SlowDisk? _slow;

    public SlowRun(StorageOptions options, SuiteRun run)
    {
        _options = options;
        _run = run;
        _work = new SlowWork(_ledger);
    }

    /// <summary>The number of calls that were held.</summary>
    public int HeldCalls { get; private set; }

    private StorageEnvironment Environment => _work.Environment!;

    /// <summary>Creates an environment to open, which was closed, or whose process was killed.</summary>
    public void Prepare(IReadOnlyList<int> work, bool isKilled)
    {
        _work.Environment = StorageEnvironment.Open(_disk, _options);
        _work.Do(0);
        _work.Do(1);
        foreach (var step in work)
            _work.Do(step);
        var killed = isKilled ? new CrashImages(_disk).BuildKilled(_disk.TraceCount) : null;
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
            foreach (var step in steps)
                _work.Do(step);
        }))];
        During(SlowPhase.Work, plan[SlowPhase.Work], workers);
        foreach (var worker in workers)
            Require(worker, "after the slow calls have returned");
        ReadHeld(held);
        Close(plan[SlowPhase.Closing], held);
        Finish(random);
    }

    private void Open(SlowPlan plan)
    {
        _work.Environment = null;
        _slow = new SlowDisk(_disk);
        _slow.Arm(plan.Holds);
        var opening = Start("Open", () => _work.Environment = StorageEnvironment.Open(_slow, _options));
        WaitUntilHeld(plan, [opening]);
        List<Probe> others = [];
        if (_slow.Held.Count > 0)
        {
            // Until the lock is taken, another opening may be first; after that it is refused.
            foreach (var _ in plan.Meanwhile)
                others.Add(Start("Another Open", OpenBeside));
            foreach (var other in others)
                other.WaitUntilBlocked();
        }
        CountHeld(SlowPhase.Opening, plan);
        Release(plan, [opening]);
        foreach (var probe in others.Append(opening))
            Require(probe, "after the slow calls of an opening have returned", isOpening: true);
        if (_work.Environment is not null)
            return;
        RequireQuiet("of an opening that has failed");
        _run.Tally("openings that failed");
        _slow = new SlowDisk(_disk);
        _work.Environment = StorageEnvironment.Open(_slow, _options);
    }

    private void OpenBeside()
    {
        using var other = StorageEnvironment.Open(_disk, _options);
        var key = _ledger.Add(100);
        _ledger.Commit(key, () => _work.Commit(other, key));
    }

    private void Close(SlowPlan plan, ReadTransaction? held)
    {
        _slow!.Arm(plan.Holds);
        var closing = Start(nameof(SlowCall.Dispose), Environment.Dispose);
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
        foreach (var how in Enum.GetValues<SlowReading>())
        {
            try
            {
                _ledger.Read(reading, how);
            }
            catch (StorageAccessException) when (_work.ReadFails)
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
            foreach (var call in plan.Meanwhile)
                Begin(call);
            foreach (var probe in _probes)
                probe.WaitUntilBlocked();

            // No cut from here on may lose anything that has been acknowledged by now.
            var keys = _ledger.AcknowledgedKeys;
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
            _work.ReadFails |= failing == DiskCallKind.Read;
            _disk.FailNext(call => call.Kind == failing, DiskError.Failed, forever: true);
        }
        _work.ReadFails |= plan.Holds.Any(hold => hold is { Kind: DiskCallKind.Read, Fails: true });
    }

    // Calls of other threads meanwhile may be held too.
    private void CountHeld(SlowPhase phase, SlowPlan plan)
    {
        var held = _slow!.Held;
        foreach (var call in held)
        {
            _run.Report($"{call.Call.Kind} of '{call.Call.Name}' takes long");
            _run.Tally($"slow {call.Call.Kind}");
        }
        HeldCalls += held.Count;
        _run.Tally($"slow in {phase}", held.Count);
        _run.Tally("several slow at once", held.Count > 1 ? 1 : 0);
        _run.Tally("beside failures", held.Count > 0 && plan.Failing is not null ? 1 : 0);
    }

    private void Release(SlowPlan plan, IReadOnlyList<Probe> waiting)
    {
        if (!plan.FailsOn)
            _disk.ClearFaults();
        _slow!.Disarm();
        for (var order = plan.ReleaseOrder; _slow.Held is { Count: > 0 } held; order /= 4)
        {
            _slow.Release(held[order % held.Count]);
            Thread.Yield();
        }
        if (plan.FailsOn)
        {
            foreach (var probe in waiting)
                probe.WaitUntilBlocked();
            _disk.ClearFaults();
        }
    }

    private void Finish(Random random)
    {
        foreach (var probe in _probes)
            Require(probe, "although no call to the disk takes long any more");
        RequireQuiet("of a closed environment");
        _cuts.Add((_disk.TraceCount, _ledger.AcknowledgedKeys));
        using (var again = StorageEnvironment.Open(_disk, _options))
            _ledger.Check(again, "opened again");
        var images = new CrashImages(_disk);
        foreach ((var cut, var keys) in _cuts)
        {
            CheckImage(images.BuildLost(cut), keys, $"after a power cut at {cut} that lost as much as it could");
            CheckImage(images.Build(cut, new Random(random.Next())), keys, $"after a power cut at {cut}");
        }
        _run.Tally("power cuts", 2 * _cuts.Count);
        _run.Tally("acknowledged", _ledger.Acknowledged);
    }

    private void CheckImage(SimulatedDisk image, IReadOnlyList<int> keys, string when)
    {
        using var environment = StorageEnvironment.Open(image, _options);
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
        var deadline = System.Environment.TickCount64 + (long)Probe.Patience.TotalMilliseconds;
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
        var readIsSlow = _slow!.Held.Any(held => held.Hold.Kind == DiskCallKind.Read);
        var probe = Start(call.ToString(), () => _work.Call(call));
        _probes.Add(probe);

        // None of these calls waits for the device: they end while it is slow.
        var isQuick = call is SlowCall.BeginRead or SlowCall.GetStatistics or SlowCall.BeginWrite or SlowCall.BeginWriteAsync;
        if (isQuick && !readIsSlow)
            probe.RequireEnd($"while {string.Join(" and ", _slow.Held.Select(held => held.Call.Kind))} takes long");
    }

    private static void Require(Probe probe, string when, bool isOpening = false)
    {
        probe.RequireEnd(when);

        // These are the only ways in which a call may be refused during failures and a close.
        var isKnown = probe.Thrown is null or ObjectDisposedException or EnvironmentPoisonedException or StorageAccessException
            or StorageFullException or TimeoutException;
        if (!isKnown && !(isOpening && probe.Thrown is EnvironmentInUseException))
            throw new BrokenPromiseException($"{probe.Name} fails: {probe.Thrown}", probe.Thrown);
    }
}
