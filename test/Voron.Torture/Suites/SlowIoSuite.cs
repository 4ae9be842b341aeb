using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.SlowIo;

namespace Voron.Torture.Suites;

/// <summary>Makes calls to the disk take long, and others fail, while other threads make every public call.</summary>
internal sealed class SlowIoSuite : Suite
{
    private static readonly DiskCallKind[] Slow =
    [
        DiskCallKind.Write, DiskCallKind.Sync, DiskCallKind.Allocate, DiskCallKind.Create, DiskCallKind.Rename, DiskCallKind.SyncDirectory,
        DiskCallKind.SetLength, DiskCallKind.Punch, DiskCallKind.Read, DiskCallKind.Delete, DiskCallKind.Open, DiskCallKind.List, DiskCallKind.Lock,
        DiskCallKind.Map, DiskCallKind.ExtendMap, DiskCallKind.Length, DiskCallKind.WriteBack,
    ];

    // The disk calls that occur while a journal write is slow, and the public calls that cause them.
    private static readonly (DiskCallKind Kind, SlowCall Call)[] Likely =
    [
        (DiskCallKind.Write, SlowCall.WriteLarge), (DiskCallKind.Sync, SlowCall.WriteLarge), (DiskCallKind.Allocate, SlowCall.WriteLarge),
        (DiskCallKind.Write, SlowCall.WriteStaged), (DiskCallKind.Sync, SlowCall.WriteStaged),
        (DiskCallKind.Read, SlowCall.Verify), (DiskCallKind.Read, SlowCall.ReadStreams),
    ];

    private static readonly DiskCallKind[] Failing = Enum.GetValues<DiskCallKind>();

    private static readonly int Calls = Enum.GetValues<SlowCall>().Length;

    public override string Name => "slow-io";

    public override string Summary =>
        "calls to the disk take any time, several at once, while others fail, and other threads make every public call meanwhile";

    public override string Unit => "slow calls";

    public override long TestCount => 240;

    public override long FullCount => 100_000;

    public override int Threads => 2;

    public override IReadOnlyList<string> NotCovered =>
    [
        "the system decides in which order the threads beside slow calls run: a failure is found, but may not be reproduced by a replay",
        "mapped memory that is loaded slowly",
    ];

    public override void Run(SuiteRun run)
    {
        var choices = run.Choices;
        var inBackground = choices.Next(4) == 3;
        var options = new StorageOptions
        {
            JournaledValueBytes = 0,
            BackgroundFlush = inBackground,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = choices.Next(2) == 0 ? 64 << 10 : 1 << 20,
            FlushThresholdBytes = 64 << 10,
            FlushInterval = TimeSpan.FromMilliseconds(5),
            ReclaimInterval = TimeSpan.FromMilliseconds(5),
            QuietTime = TimeSpan.Zero,
            ScrubInterval = inBackground && choices.Next(2) == 1 ? TimeSpan.FromMilliseconds(5) : Timeout.InfiniteTimeSpan,
            TornPageProtection = choices.Next(2) == 0 ? TornPageProtection.Checksums : TornPageProtection.FullPageImages,
            MaxGrowthBytes = 1 << 20,
            VerifyEveryRead = choices.Next(8) == 7,
        };
        var slow = new SlowRun(options, run);
        run.Step($"{options.TornPageProtection}, {(inBackground ? "flushed in the background" : "flushed when asked for")}");
        var before = DrawWork(run, choices.Next(0, 5));
        var isKilled = choices.Next(2) == 1;
        var plan = new Dictionary<SlowPhase, SlowPlan>
        {
            [SlowPhase.Opening] = choices.Next(3) == 2 ? DrawPlan(run, SlowPhase.Opening) : SlowPlan.Quick,
            [SlowPhase.Work] = choices.Next(8) < 7 ? DrawPlan(run, SlowPhase.Work) : SlowPlan.Quick,
            [SlowPhase.Closing] = choices.Next(3) == 2 ? DrawPlan(run, SlowPhase.Closing) : SlowPlan.Quick,
        };
        var work = new List<List<int>>();
        for (var i = choices.Next(1, 4); ; i--)
        {
            choices.Mark();
            if (!choices.GoesOn(i > 0))
                break;
            run.Report("a thread");
            work.Add(DrawWork(run, choices.Next(1, 6)));
        }
        if (work.Count > 0 && plan[SlowPhase.Work].Holds.Any(hold => hold.Kind is DiskCallKind.Punch or DiskCallKind.SetLength))
            work[0].AddRange([SlowWork.UseAndFreeStep, SlowWork.ReclaimStep]);
        slow.Prepare(before, isKilled);
        run.Tally(isKilled ? "killed before" : "closed before");
        slow.Make(plan, work, choices.Next(3) == 2, choices);
        run.Count(slow.HeldCalls);
        run.Tally("not reached", slow.HeldCalls == 0 ? 1 : 0);
    }

    private static List<int> DrawWork(SuiteRun run, int count)
    {
        var work = new List<int>();
        for (; ; count--)
        {
            run.Choices.Mark();
            if (!run.Choices.GoesOn(count > 0))
                return work;
            work.Add(run.Choices.Next(SlowWork.Steps));
            run.Report($"work {work[^1]}");
        }
    }

    private static SlowPlan DrawPlan(SuiteRun run, SlowPhase phase)
    {
        var choices = run.Choices;
        var holds = new List<SlowHold>();
        var meanwhile = new List<SlowCall>();
        for (var i = choices.Next(1, 4); ; i--)
        {
            choices.Mark();
            if (!choices.GoesOn(i > 0))
                break;

            // Every caller waits for journal writes: in half of the runs one is the first slow call. Beside it come calls that do not wait
            // for it.
            var isFirst = holds.Count == 0;
            var isLikely = phase == SlowPhase.Work && choices.Next(3) > 0;
            var kind = !isLikely ? Slow[choices.Next(Slow.Length)] : isFirst ? DiskCallKind.Write : Likely[choices.Next(Likely.Length)].Kind;
            var skip = choices.Next(2) == 0 || (isLikely && !isFirst) ? 0 : choices.Next(phase == SlowPhase.Opening ? 12 : 4);
            holds.Add(new SlowHold(kind, skip, choices.Next(2) == 1, choices.Next(4) == 3));
            if (isLikely && !isFirst)
                meanwhile.AddRange(Likely.Where(likely => likely.Kind == kind).Select(likely => likely.Call));
        }
        DiskCallKind? failing = choices.Next(2) == 0 ? null : Failing[choices.Next(Failing.Length)];
        var failsOn = choices.Next(2) == 1;

        // A value that is synced before its record does not wait for a journal write: its failure poisons the environment during one.
        if (phase == SlowPhase.Work && failing == DiskCallKind.Sync && holds.Any(hold => hold.Kind == DiskCallKind.Write))
            meanwhile.Add(SlowCall.WriteLarge);
        for (var i = choices.Next(1, 8); ; i--)
        {
            choices.Mark();
            if (!choices.GoesOn(i > 0))
                break;
            meanwhile.Add((SlowCall)choices.Next(Calls));
        }
        if (phase == SlowPhase.Work && choices.Next(2) == 0)
            meanwhile.Add(SlowCall.Dispose);
        var plan = new SlowPlan(holds, failing, failsOn, meanwhile, choices.Next(64));
        run.Report($"{phase}: {plan}");
        return plan;
    }
}
