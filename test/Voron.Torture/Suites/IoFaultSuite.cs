using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Faults;

namespace Voron.Torture.Suites;

/// <summary>Makes each call of a workload to the disk fail, one a case: once, and from then on for ever.</summary>
internal sealed class IoFaultSuite : Suite
{
    private const int MaxSteps = 4096;
    private const int MaxCalls = 1 << 20;

    // The steps of the workload lie between these two.
    private const int Opening = 0;
    private const int Closing = 1;
    private const int FirstStep = 2;

    private static readonly Variant[] Variants =
    [
        new("an error", DiskError.Failed, false, false),
        new("errors for ever", DiskError.Failed, true, false),
        new("no space", DiskError.NoSpace, false, false),
        new("no space for ever", DiskError.NoSpace, true, false),
        new("a read cut short", DiskError.EndOfFile, false, false),
        new("a sync that drops writes", DiskError.Failed, false, true),
        new("syncs that drop writes, for ever", DiskError.Failed, true, true),
    ];

    public override string Name => "io-fault";

    public override string Summary => "every call to the disk fails, once and from then on for ever; system calls are interrupted, or do only a part";

    public override string Unit => "faults";

    public override long TestCount => 3_000;

    public override long FullCount => 500_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "a fault at one certain call of the journal's own thread beside the writer's is found, but may not be reproduced by a replay",
        "interrupted and partial system calls: on POSIX only, and on real files in the directory for temporary files",
        "an error of the medium under a page that is mapped and has been verified: the system then ends the process, which no engine that maps "
            + "its file can report; a page's first use is a call, and fails here like any other",
    ];

    public override void Run(SuiteRun run)
    {
        if (SystemCallRun.IsSupported && run.Index % 4 == 3)
        {
            SystemCallRun.Make(run);
            return;
        }
        var options = FaultRun.RandomOptions(run.Choices);
        var start = Start.Of(run, options);
        var steps = Probe(run, options, start);
        (int Tag, int Call, int Variant)[] cases =
        [
            .. from step in steps
               from call in Enumerable.Range(0, step.Calls.Count)
               from variant in Enumerable.Range(0, Variants.Length)
               where Variants[variant].Fits(step.Calls[call])
               select (step.Tag, call, variant),
        ];
        for (var turn = 0; ; turn++)
        {
            var drawn = run.Choices.Drawn.Count;
            run.Choices.Mark();
            if (!run.Choices.GoesOn(turn < cases.Length && !run.Stop.IsCancellationRequested))
                return;
            (var tag, var call, var variant) = turn < cases.Length ? cases[turn] : default;
            tag = run.Choices.Choose(tag, MaxSteps);
            call = run.Choices.Choose(call, MaxCalls);
            variant = run.Choices.Choose(variant, Variants.Length);
            run.Report($"{Variants[variant].Name} at call {call} of step {tag}");
            Fail(run, options, start, steps, new Fault(tag, call, Variants[variant]));
            run.Choices.Forget(drawn);
        }
    }

    /// <summary>
    /// Runs the workload without a fault, and records the choices and calls of each step. Each step has a number of its own that stays the
    /// same when others are left out.
    /// </summary>
    private static List<Step> Probe(SuiteRun run, StorageOptions options, Start start)
    {
        var disk = start.MakeDisk();
        var calls = new List<DiskCallKind>();
        disk.FailNext(
            call =>
            {
                calls.Add(call.Kind);
                return false;
            },
            DiskError.Failed);
        using var work = new FaultRun(disk, options) { OnStep = run.Report, Acknowledged = start.Content, Records = Records(run) };
        var steps = new List<Step>();
        Add(Opening, 0, work.Open);
        var count = run.Choices.Next(6, 16);
        for (var i = 0; ; i++)
        {
            run.Choices.Mark();
            if (!run.Choices.GoesOn(i < count))
                break;
            var tag = FirstStep + run.Choices.Choose(i, MaxSteps - FirstStep);
            Add(tag, run.Choices.Drawn.Count, () => work.Step(run.Choices));
        }
        Add(Closing, run.Choices.Drawn.Count, work.Close);
        BrokenPromiseException.Require(work.ReportedFailures == 0, $"Something failed although nothing was to fail: {work.LastFailure}");
        return steps;

        void Add(int tag, int from, Action action)
        {
            calls.Clear();
            action();
            steps.Add(new Step(tag, [.. run.Choices.Drawn.Skip(from)], [.. calls]));
        }
    }

    private static bool Records(SuiteRun run) => run.Index % 4 == 1;

    private static void Fail(SuiteRun run, StorageOptions options, Start start, List<Step> steps, Fault fault)
    {
        (var tag, var call, var variant) = fault;
        var disk = start.MakeDisk();
        var isArmed = false;
        var seen = 0;
        DiskCall failed = default;
        disk.FailNext(
            made =>
            {
                var isIt = failed != default || (isArmed && seen++ == call);
                if (!isIt || !variant.Fits(made.Kind))
                    return false;
                failed = failed == default ? made : failed;
                return true;
            },
            variant.Error, variant.IsForEver, variant.DropsDirty);
        using var work = new FaultRun(disk, options) { Acknowledged = start.Content, Records = Records(run) };
        try
        {
            foreach (var step in steps)
            {
                isArmed = step.Tag == tag;
                var choices = new Tape(step.Script);
                if (step.Tag == Opening)
                    work.Open();
                else if (step.Tag == Closing)
                    work.Close();
                else
                    work.Step(choices);
                isArmed = false;
            }
            disk.ClearFaults();
            if (failed == default)
            {
                // Threads of the engine may have made their calls in another order than before.
                run.Tally("not reached");
                return;
            }
            run.Count();
            run.Tally("reported", work.ReportedFailures > 0 ? 1 : 0);
            run.Tally("poisoned", work.IsPoisoned ? 1 : 0);
            run.Tally(variant.Name);
            run.Tally("in a recovery", tag == Opening && !start.IsNew ? 1 : 0);
            CheckWhatIsLeft(run.Choices, disk, work);
        }
        catch (Exception e) when (e is not TapeRunOutException)
        {
            throw new BrokenPromiseException($"{variant.Name} at {failed}, call {call} of step {tag}: {e.Message}", e);
        }
    }

    // The visible state is opened as it is, and worked on before the power fails, or the power fails at once.
    private static void CheckWhatIsLeft(Tape choices, SimulatedDisk disk, FaultRun work)
    {
        var images = new CrashImages(disk);
        switch (choices.Next(3))
        {
            case 0:
                work.CheckReopened(images.BuildLost(disk.TraceCount));
                break;
            case 1:
                work.CheckReopened(images.Build(disk.TraceCount, new Random(choices.Next())));
                break;
            default:
                var seen = images.BuildKilled(disk.TraceCount);
                var next = work.CheckReopened(seen);
                work.CheckReopened(new CrashImages(seen).Build(seen.TraceCount, new Random(choices.Next())), next);
                break;
        }
    }

    /// <summary>
    /// The initial state of the workload: nothing, or the disk of an environment at which the power failed, so that calls of a recovery,
    /// with records to replay, fail too.
    /// </summary>
    private sealed class Start(SimulatedDisk? disk, int cut, Crashes.Content content)
    {
        public bool IsNew => disk is null;

        public Crashes.Content Content => content;

        public static Start Of(SuiteRun run, StorageOptions options)
        {
            if (run.Choices.Next(2) == 0)
                return new Start(null, 0, Crashes.Content.Empty);
            var disk = new SimulatedDisk();
            using var work = new FaultRun(disk, options) { OnStep = run.Report, Records = Records(run) };
            work.Open();
            var count = run.Choices.Next(3, 10);
            for (var i = 0; ; i++)
            {
                run.Choices.Mark();
                if (!run.Choices.GoesOn(i < count))
                    break;
                work.Step(run.Choices);
            }
            BrokenPromiseException.Require(work.ReportedFailures == 0, $"Something failed although nothing was to fail: {work.LastFailure}");
            run.Report("the power fails");

            // Everything that was committed has been acknowledged, so the loss of the rest must not touch it.
            return new Start(disk, disk.TraceCount, work.Acknowledged);
        }

        public SimulatedDisk MakeDisk() => disk is null ? new SimulatedDisk() : new CrashImages(disk).BuildLost(cut);
    }

    private sealed record Step(int Tag, long[] Script, List<DiskCallKind> Calls);

    /// <summary>A call that fails: its number within a step of the workload, and the way in which it fails.</summary>
    private readonly record struct Fault(int Tag, int Call, Variant Variant);

    /// <summary>A way to fail.</summary>
    private sealed record Variant(string Name, DiskError Error, bool IsForEver, bool DropsDirty)
    {
        /// <summary>Returns whether a call can fail in this way: a lack of space is an answer only to calls that need some.</summary>
        public bool Fits(DiskCallKind kind) => Error switch
        {
            DiskError.NoSpace => kind is DiskCallKind.Create or DiskCallKind.Rename or DiskCallKind.Allocate or DiskCallKind.Write
                or DiskCallKind.Sync or DiskCallKind.WriteBack or DiskCallKind.SetLength,
            DiskError.EndOfFile => kind is DiskCallKind.Read,
            _ => DropsDirty ? kind is DiskCallKind.Sync or DiskCallKind.WriteBack : kind is not DiskCallKind.Length,
        };
    }
}
