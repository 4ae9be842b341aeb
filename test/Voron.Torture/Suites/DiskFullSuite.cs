using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Faults;

namespace Voron.Torture.Suites;

/// <summary>Gives the disk a limited amount of space, in steps from nothing to enough, and later more.</summary>
internal sealed class DiskFullSuite : Suite
{
    /// <summary>A run tries one size in this many; the runs after it try the sizes between.</summary>
    private const int Stride = 16;
    private const int Unit4K = 4096;
    private const int MaxUnits = 1 << 14;

    public override string Name => "disk-full";

    public override string Summary => "disks of every size, full while growing, committing, flushing, recovering, or at any call of a bulk load; work resumes when there is space";

    public override string Unit => "disks";

    // Sixteen runs have some 400 disks: with them every size has been tried.
    public override long TestCount => 400;

    public override long FullCount => 20_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "a file system that takes blocks for its own use, so that a write fails although its blocks had been allocated",
        "every size in steps of 4 KiB on one and the same workload: a run has one size in 16, the 15 runs after it those between, each with a "
            + "workload of its own",
    ];

    public override void Run(SuiteRun run)
    {
        if (run.Index % 2 == 0)
            FullDiskLoads.Make(run);
        if (run.Choices.Next(8) == 7)
        {
            Overwrite(run);
            return;
        }
        var options = FaultRun.RandomOptions(run.Choices);
        var steps = Probe(run, options, out var most);
        var units = (int)Math.Min(MaxUnits - 1, most / Unit4K);
        for (var size = (int)(run.Index % Stride); ; size += Stride)
        {
            var drawn = run.Choices.Drawn.Count;
            run.Choices.Mark();
            if (!run.Choices.GoesOn(size <= units && !run.Stop.IsCancellationRequested))
                return;
            Fill(run, options, steps, (long)run.Choices.Choose(Math.Min(size, MaxUnits - 1), MaxUnits) * Unit4K);
            run.Choices.Forget(drawn);
        }
    }

    /// <summary>Overwrites large values that take a tenth of the disk again and again: the disk must never fill up.</summary>
    private static void Overwrite(SuiteRun run)
    {
        var count = run.Choices.Next(1, 7);
        var length = run.Choices.Next(1 << 20, 3 << 20) / count;
        var options = new StorageOptions
        {
            BackgroundFlush = run.Choices.Next(2) == 1,
            InitialJournalFileBytes = 128 << 10,
            MaxJournalFileBytes = 512 << 10,
            LargeValueBytes = 16 << 10,
            JournaledValueBytes = 0,
        };
        var disk = new SimulatedDisk { SpaceLimit = 10L * count * length };
        run.Report($"{count} values of {length} bytes are overwritten on a disk of {disk.SpaceLimit} bytes");
        var seeds = new int[count];
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            for (var i = 0; ; i++)
            {
                if (!run.Choices.GoesOn(i < 60))
                    break;
                using var writing = environment.BeginWrite();
                var tree = writing.CreateTree("items");
                for (var more = run.Choices.Next(3); more >= 0; more--)
                {
                    var key = run.Choices.Next(count);
                    seeds[key] = run.Choices.Next(1, int.MaxValue);
                    tree.Put([(byte)key], Bytes(seeds[key], length));
                }
                writing.Commit();
                run.Tally("large values overwritten");
            }
            CheckValues(environment, seeds, length);
        }
        using (var reopened = StorageEnvironment.Open(disk, options))
            CheckValues(reopened, seeds, length);
        run.Count();
    }

    private static void CheckValues(StorageEnvironment environment, int[] seeds, int length)
    {
        using var reading = environment.BeginRead();
        for (var key = 0; key < seeds.Length; key++)
        {
            if (seeds[key] == 0)
                continue;
            BrokenPromiseException.Require(
                reading.OpenTree("items").TryGet([(byte)key], out var value) && value.SequenceEqual(Bytes(seeds[key], length)),
                $"Value {key} is wrong.");
        }
    }

    private static byte[] Bytes(int seed, int length) => SeededBytes.Make(seed, length);

    /// <summary>Runs the workload with enough space, and returns how much that was.</summary>
    private static List<long[]> Probe(SuiteRun run, StorageOptions options, out long most)
    {
        var disk = new SimulatedDisk();
        using var work = new FaultRun(disk, options) { OnStep = run.Report, Records = Records(run) };
        var steps = new List<long[]>();
        work.Open();
        most = disk.UsedBytes;
        var count = run.Choices.Next(10, 30);
        for (var i = 0; ; i++)
        {
            run.Choices.Mark();
            if (!run.Choices.GoesOn(i < count))
                break;
            var from = run.Choices.Drawn.Count;
            work.Step(run.Choices);
            steps.Add([.. run.Choices.Drawn.Skip(from)]);
            most = Math.Max(most, disk.UsedBytes);
        }
        work.Close();
        BrokenPromiseException.Require(work.ReportedFailures == 0, $"Something failed although there was space: {work.LastFailure}");
        return steps;
    }

    private static bool Records(SuiteRun run) => run.Index % 4 == 1;

    private static void Fill(SuiteRun run, StorageOptions options, List<long[]> steps, long size)
    {
        run.Report($"a disk of {size} bytes");
        var disk = new SimulatedDisk { SpaceLimit = size };
        using var work = new FaultRun(disk, options) { Records = Records(run) };
        try
        {
            work.Open();
            CheckReport(disk, work, 0);
            var stays = run.Choices.Next(4);
            var full = work.IsOpen ? -1 : 0;
            run.Tally(work.IsOpen ? "opened" : "full before an environment was created");
            for (var i = 0; i < steps.Count; i++)
            {
                if (full >= 0 && full + stays <= i)
                    MakeRoom(disk, work);
                var before = work.ReportedFailures;
                work.Step(new Tape(steps[i]));
                CheckReport(disk, work, before);
                if (work.ReportedFailures == before || full >= 0)
                    continue;
                full = i;
                run.Tally("full while at work");
                CheckFull(run, disk, work);
            }
            if (disk.SpaceLimit != long.MaxValue && run.Choices.Next(2) == 1)
                MakeRoom(disk, work);
            work.Close();
            disk.SpaceLimit = long.MaxValue;
            work.CheckReopened(disk);
            run.Count();
        }
        catch (Exception e) when (e is not TapeRunOutException)
        {
            throw new BrokenPromiseException($"A disk of {size} bytes: {e.Message}", e);
        }
    }

    private static void MakeRoom(SimulatedDisk disk, FaultRun work)
    {
        disk.SpaceLimit = long.MaxValue;
        if (!work.IsOpen)
            work.Open();
        BrokenPromiseException.Require(work.IsOpen, $"There is space, and the environment cannot be opened: {work.LastFailure}");
    }

    private static void CheckReport(SimulatedDisk disk, FaultRun work, int before)
    {
        if (work.ReportedFailures == before)
            return;
        BrokenPromiseException.Require(disk.SpaceLimit != long.MaxValue, $"There is space again, and something fails: {work.LastFailure}");
        BrokenPromiseException.Require(
            work.LastFailure is StorageFullException && !work.IsPoisoned, $"A full disk is reported in another way: {work.LastFailure}");
    }

    // Checks the flush that empties the journal, and the recovery after a crash at this moment, with no free space at all.
    private static void CheckFull(SuiteRun run, SimulatedDisk disk, FaultRun work)
    {
        if (work.IsOpen && run.Choices.Next(2) == 0)
            work.CheckCanBeEmptied();
        var images = new CrashImages(disk);
        var left = run.Choices.Next(2) == 0
            ? images.BuildKilled(disk.TraceCount)
            : images.Build(disk.TraceCount, new Random(run.Choices.Next()));
        left.SpaceLimit = left.UsedBytes;
        run.Tally("recovered while full");
        work.CheckReopenedFull(left);
    }
}
