using Voron.Simulation.Harness;
using Voron.Simulation.Memory;
using Voron.Torture.Memory;

namespace Voron.Torture.Suites;

/// <summary>Makes every allocation that the engine makes outside the garbage collector fail in turn, once or for ever.</summary>
internal sealed class MemoryFaultSuite : Suite
{
    private const int MaxAllocations = 1 << 16;

    // In others, tables come by chance.
    private const int TablesOneIn = 3;

    public override string Name => "memory-fault";

    public override string Summary => "every native or pooled allocation, reservation and map refused in turn, once or for ever";

    public override string Unit => "faults";

    public override long TestCount => 2_000;

    public override long FullCount => 100_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "managed memory",
        "memory that the system has promised and cannot provide when it is touched",
        "allocations that fail on one thread while another still gets memory, except on the flusher's, which runs beside the script in one run of four",
    ];

    public override void Run(SuiteRun run)
    {
        var choices = run.Choices;
        var keys = choices.Next(4, 13);
        var inMemory = choices.Next(16) < 15;
        var inBackground = choices.Next(4) == 3;
        var options = new StorageOptions
        {
            JournaledValueBytes = 0,
            BackgroundFlush = inBackground,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            FlushThresholdBytes = inBackground ? 32 << 10 : 1 << 20,
            // Events that depend on the clock would happen at other places each time.
            FlushInterval = TimeSpan.FromDays(1),
            ScrubInterval = Timeout.InfiniteTimeSpan,
            TornPageProtection = choices.Next(2) == 0 ? TornPageProtection.Checksums : TornPageProtection.FullPageImages,
            JournalCompression = choices.Next(2) == 0 ? JournalCompression.Never : JournalCompression.Always,
            ScratchMemoryBytes = 4 << 20,
            KeyHeadCacheBytes = choices.Next(2) == 0 ? 0 : 1 << 16,
            MaxGrowthBytes = 1 << 20,
        };
        run.Step(
            $"{keys} keys, {(inMemory ? "in memory" : "on disk")}, {options.TornPageProtection}, compression {options.JournalCompression}, " +
            $"{(inBackground ? "flushed in the background" : "flushed when asked for")}");
        List<MemoryOperation> script = [];
        var tables = new MemoryOperation(MemoryStep.TableTransaction, 1, (int)(run.Index / TablesOneIn % 3));
        var hasTables = run.Index % TablesOneIn == 1;
        if (hasTables)
            script.Add(tables);
        for (var i = choices.Next(3, 14); ; i--)
        {
            choices.Mark();
            if (!choices.GoesOn(i > 0))
                break;
            var kind = (MemoryStep)choices.Next((int)MemoryStep.Reopen + 1);
            var operation = new MemoryOperation(kind, 1 + choices.Next((1 << keys) - 1), choices.Next(3));
            run.Report(operation.ToString());
            script.Add(operation);
        }

        if (hasTables)
            script.Add(tables);
        var counting = new MemoryWatch();
        var workload = new Workload(script, options, keys, inMemory);
        using (var world = workload.Begin(counting))
            world.Run();
        var allocations = (int)Math.Min(counting.AskedUntilThen, MaxAllocations);
        run.Tally("allocations", allocations);
        for (var turn = 0; ; turn++)
        {
            var drawn = choices.Drawn.Count;
            choices.Mark();
            if (!choices.GoesOn(turn < 2 * allocations && !run.Stop.IsCancellationRequested))
                return;
            var allocation = choices.Choose(Math.Min(turn / 2, MaxAllocations - 1), MaxAllocations);
            var forEver = choices.Choose(turn % 2, 2) == 1;
            Fail(run, workload, allocation, forEver);
            choices.Forget(drawn);
        }
    }

    private static void Fail(SuiteRun run, Workload workload, int allocation, bool forEver)
    {
        var watch = new MemoryWatch();
        watch.FailAt(allocation, forEver);
        using var world = workload.Begin(watch);
        try
        {
            world.Run();
        }
        catch (Exception e)
        {
            run.Report($"allocation {allocation} {(forEver ? "and all after it fail" : "fails")}: {e.GetType().Name}");
            foreach (var line in Origin(workload, allocation, forEver))
                run.Report(line);
            throw;
        }
        finally
        {
            run.Count(watch.Refused > 0 ? 1 : 0);
            run.Tally(watch.Refused > 0 ? "refused" : "not reached");
            run.Tally("reported", world.ReportedFailures > 0 ? 1 : 0);
            run.Tally("feeds cut", world.HasCutFeed ? 1 : 0);
            run.Tally("refused to the flusher", watch.RefusedToFlusher > 0 ? 1 : 0);
        }
    }

    // The place of the failure is determined in a second run, since that is slow.
    private static IEnumerable<string> Origin(Workload workload, int allocation, bool forEver)
    {
        var watch = new MemoryWatch { TracksOrigins = true };
        watch.FailAt(allocation, forEver);
        var message = "it does not fail a second time";
        try
        {
            using var world = workload.Begin(watch);
            world.Run();
        }
        catch (Exception e)
        {
            message = e.Message;
        }
        return [.. (watch.RefusedAt ?? "").Split('\n').Where(line => line.Contains("Voron", StringComparison.Ordinal)).Take(16), message];
    }

    /// <summary>The operations of a case and the environment on which they run, the same for each allocation that fails.</summary>
    private sealed record Workload(List<MemoryOperation> Script, StorageOptions Options, int Keys, bool InMemory)
    {
        public MemoryFaultRun Begin(MemoryWatch watch) => new(Script, Options, Keys, InMemory, watch);
    }
}
