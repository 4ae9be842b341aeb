using Voron.Torture.Harness;
using Voron.Torture.Simulation;
using Voron.Torture.SlowIo;

namespace Voron.Torture.Suites;

/// <summary>One call to the disk takes long, others fail, and other threads make every public call meanwhile.</summary>
internal sealed class SlowIoSuite : Suite
{
    private static readonly DiskCallKind[] Slow =
    [
        DiskCallKind.Write, DiskCallKind.Sync, DiskCallKind.Allocate, DiskCallKind.Create, DiskCallKind.Rename, DiskCallKind.SyncDirectory,
        DiskCallKind.SetLength, DiskCallKind.Punch, DiskCallKind.Read, DiskCallKind.Delete,
    ];

    private static readonly DiskCallKind[] Failing =
        [DiskCallKind.Sync, DiskCallKind.Write, DiskCallKind.Allocate, DiskCallKind.Create, DiskCallKind.SyncDirectory];

    private static readonly int Calls = Enum.GetValues<SlowCall>().Length;

    public override string Name => "slow-io";

    public override string Summary => "a call to the disk takes as long as it likes while others fail, and every public call is made meanwhile by other threads";

    public override string Unit => "slow calls";

    public override long TestCount => 150;

    public override long FullCount => 100_000;

    public override int Threads => 2;

    public override IReadOnlyList<string> NotCovered =>
    [
        "two calls that take long at the same time",
        "the order in which the threads beside the slow call run is the system's: a failure is found, and may not replay",
        "calls of an opening that take long",
    ];

    public override void Run(SuiteRun run)
    {
        Tape choices = run.Choices;
        bool inBackground = choices.Next(4) == 3;
        var options = new StorageOptions
        {
            BackgroundFlush = inBackground,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = choices.Next(2) == 0 ? 64 << 10 : 1 << 20,
            FlushThresholdBytes = 64 << 10,
            FlushInterval = TimeSpan.FromMilliseconds(5),
            ReclaimInterval = TimeSpan.FromMilliseconds(5),
            ScrubInterval = inBackground && choices.Next(2) == 1 ? TimeSpan.FromMilliseconds(5) : Timeout.InfiniteTimeSpan,
            FlushRecords = choices.Next(2) == 0 ? FlushRecordForm.Checksums : FlushRecordForm.WholeImages,
            MaxGrowthBytes = 1 << 20,
        };

        // Journal writes are what everybody waits for: they are slow in half of the runs.
        DiskCallKind kind = choices.Next(2) == 0 ? DiskCallKind.Write : Slow[choices.Next(Slow.Length)];
        DiskCallKind? failing = choices.Next(2) == 0 ? null : Failing[choices.Next(Failing.Length)];
        var plan = new SlowPlan(kind, choices.Next(2) == 1, choices.Next(4) == 3, failing);
        run.Step($"{plan}, {options.FlushRecords}, {(inBackground ? "flushed in the background" : "flushed when asked for")}");
        var work = new List<int>();
        for (int i = choices.Next(1, 7); ; i--)
        {
            choices.Mark();
            if (!choices.GoesOn(i > 0))
                break;
            work.Add(choices.Next(SlowRun.Steps));
            run.Tell($"work {work[^1]}");
        }
        if (kind is DiskCallKind.Punch or DiskCallKind.SetLength)
            work.AddRange([SlowRun.UseAndFreeStep, SlowRun.ReclaimStep]);
        var meanwhile = new List<SlowCall>();

        // A value that is synced before its record waits for no journal write: its failure poisons beside one.
        if (kind == DiskCallKind.Write && failing == DiskCallKind.Sync)
            meanwhile.Add(SlowCall.WriteLarge);
        for (int i = choices.Next(1, 5); ; i--)
        {
            choices.Mark();
            if (!choices.GoesOn(i > 0))
                break;
            meanwhile.Add((SlowCall)choices.Next(Calls));
        }
        if (choices.Next(2) == 0)
            meanwhile.Add(SlowCall.Dispose);
        bool isHeld = new SlowRun(options, run).Make(plan, work, meanwhile);
        run.Count(isHeld ? 1 : 0);
        run.Tally(isHeld ? $"slow {kind}" : "not reached");
        run.Tally("with a closing", isHeld && meanwhile.Contains(SlowCall.Dispose) ? 1 : 0);
        run.Tally("beside failures", isHeld && failing is not null ? 1 : 0);
    }
}
