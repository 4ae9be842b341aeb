using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Torture.Faults;

/// <summary>
/// Makes one bulk load again and again, on disks that refuse space at one of its calls, from one of them on, or from some size on. Nothing may be
/// half made afterwards, and the same load must succeed when there is space.
/// </summary>
internal sealed class FullDiskLoads : IDisposable
{
    // The number of calls that a run tries, at even distances, and other ones than the runs before it.
    private const int Tries = 6;
    private const int MaxCalls = 1 << 14;

    private readonly SuiteRun _run;
    private readonly StorageOptions _options;
    private readonly LoadOnDisk _load;
    private readonly SimulatedDisk _start = new();

    private FullDiskLoads(SuiteRun run)
    {
        _run = run;
        _options = FaultRun.RandomOptions(run.Choices);
        _load = LoadOnDisk.Draw(run.Choices, run.Index / 2);
        run.Report($"bulk loads on full disks: {_load.Name}");
        using var environment = StorageEnvironment.Open(_start, _options);
        _load.Prepare(environment);
    }

    public static void Make(SuiteRun run)
    {
        using var loads = new FullDiskLoads(run);
        loads.TryAll();
    }

    public void Dispose() => _start.Dispose();

    private void TryAll()
    {
        var calls = Probe(out var growth);
        var stride = Math.Max(1, calls / Tries);
        for (var turn = (int)(_run.Index % stride); ; turn += stride)
        {
            var drawn = _run.Choices.Drawn.Count;
            _run.Choices.Mark();
            if (!_run.Choices.GoesOn(turn < calls && !_run.Stop.IsCancellationRequested))
                return;
            var call = _run.Choices.Choose(Math.Min(turn, MaxCalls - 1), MaxCalls);
            var way = (Way)_run.Choices.Next(3);
            try
            {
                Try(call, way, growth * call / Math.Max(calls, 1));
            }
            catch (Exception e) when (e is not TapeRunOutException)
            {
                throw new BrokenPromiseException($"The disk is full at call {call} of a load ({_load.Name}, {way}): {e.Message}", e);
            }

            _run.Choices.Forget(drawn);
        }
    }

    // Makes the load with enough space, and returns the number of calls that need some.
    private int Probe(out long growth)
    {
        using var disk = MakeDisk();
        using var environment = StorageEnvironment.Open(disk, _options);
        var (calls, most) = (0, 0L);
        var before = disk.UsedBytes;
        disk.FailNext(
            call =>
            {
                calls += NeedsSpace(call) ? 1 : 0;
                most = Math.Max(most, disk.UsedBytes);
                return false;
            },
            DiskError.NoSpace);
        _load.Load(environment);
        disk.ClearFaults();
        growth = most - before;
        _load.CheckLoaded(environment);
        return Math.Min(calls, MaxCalls);
    }

    private void Try(int call, Way way, long space)
    {
        using var disk = MakeDisk();
        var environment = StorageEnvironment.Open(disk, _options);
        try
        {
            var open = disk.OpenTemporaryFiles;
            var failed = Refuse(disk, call, way, space);
            var failure = TryLoad(environment);
            disk.ClearFaults();
            disk.SpaceLimit = long.MaxValue;
            _run.Count();
            _run.Tally(failure == null ? "loads in spite of a full disk" : $"loads refused by a full disk: {_load.Name}");
            var (mayBreak, place) = failed();
            _run.Tally(place);
            BrokenPromiseException.Require(
                failure is null or StorageFullException || mayBreak, $"A full disk is reported in another way: {failure}");
            if (environment.Internals.Engine.Poison.IsPoisoned)
            {
                BrokenPromiseException.Require(mayBreak, "A disk without space has poisoned the environment.");
                environment.Dispose();
                environment = StorageEnvironment.Open(disk, _options);
                _run.Tally("poisoned by a full disk");
            }
            else
            {
                BrokenPromiseException.Require(disk.OpenTemporaryFiles == open, "A temporary file of the load is still open.");
            }

            CheckUnreserved(environment);
            _load.CheckAfter(environment, isLoaded: failure == null);
            if (failure != null)
            {
                _load.Load(environment);
                _load.CheckLoaded(environment);
                CheckUnreserved(environment);
            }
        }
        finally
        {
            environment.Dispose();
        }

        using var again = StorageEnvironment.Open(disk, _options);
        _load.CheckLoaded(again);
    }

    // Returns whether a write was refused, which a file system does only if it allocates no space before, and where the disk was full.
    private static Func<(bool IsWrite, string Place)> Refuse(SimulatedDisk disk, int call, Way way, long space)
    {
        if (way == Way.FullFromSizeOn)
        {
            disk.SpaceLimit = disk.UsedBytes + space;
            return static () => (false, "full at some size");
        }

        var left = call;
        var (isWrite, place) = (false, "not reached");
        disk.FailNext(
            made =>
            {
                if (!NeedsSpace(made) || left-- > 0)
                    return false;
                isWrite |= made.Kind == DiskCallKind.Write;
                if (place == "not reached")
                    place = $"full while {PlaceOf(made)}";
                return true;
            },
            DiskError.NoSpace, forever: way == Way.RefusedFromCallOn);
        return () => (isWrite, place);
    }

    private static string PlaceOf(DiskCall call) =>
        call.Name.StartsWith(TemporaryFile.NameOf(0), StringComparison.Ordinal) ? "spilling"
        : call.Name == DataFile.FileName ? "storing pages"
        : "committing";

    private VoronException? TryLoad(StorageEnvironment environment)
    {
        try
        {
            _load.Load(environment);
            return null;
        }
        catch (VoronException e)
        {
            return e;
        }
    }

    private static bool NeedsSpace(DiskCall call) =>
        call.Kind is DiskCallKind.Create or DiskCallKind.Allocate or DiskCallKind.SetLength or DiskCallKind.Write;

    private static void CheckUnreserved(StorageEnvironment environment)
    {
        // A transaction makes the pages of ended reservations available.
        environment.BeginWrite().Dispose();
        BrokenPromiseException.Require(
            environment.GetStatistics().StagedBytes == 0 && environment.Internals.Engine.Reserved!.SectionCount == 0,
            "Pages of a load are still reserved.");
        var report = environment.Verify();
        BrokenPromiseException.Require(report.Problems.Count == 0, string.Join("; ", report.Problems));
    }

    private SimulatedDisk MakeDisk() => new CrashImages(_start).BuildLost(_start.TraceCount);

    private enum Way
    {
        RefusedOnce,
        RefusedFromCallOn,
        FullFromSizeOn,
    }
}
