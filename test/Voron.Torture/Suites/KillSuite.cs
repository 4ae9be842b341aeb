using System.Diagnostics;
using Voron.KillTarget;
using Voron.Simulation.Harness;
using Voron.Simulation.Processes;
using Voron.Torture.Kills;

namespace Voron.Torture.Suites;

/// <summary>Starts a separate process that works, reports its phases and each acknowledged commit, and is killed.</summary>
internal sealed class KillSuite : Suite
{
    private const int KillsPerRun = 20;

    /// <summary>The number of reports after which a phase that does not come is given up.</summary>
    private const int MaxReports = 400;

    /// <summary>Phases take from some microseconds to some milliseconds.</summary>
    private const int LongestDelayMicroseconds = 4_000;

    /// <summary>A drop has many transactions, and its code is compiled in the first ones of a process.</summary>
    private const int StepsOfDrop = 12;

    /// <summary>
    /// The newest state of one in this many is not examined: the next process finds it unchanged, and is killed while it recovers.
    /// </summary>
    private const int LeftOneIn = 4;

    /// <summary>
    /// A process that has reported nothing for this long hangs. Less than the limit of a run: the process must not outlive the run.
    /// </summary>
    private static readonly TimeSpan Hanging = TimeSpan.FromSeconds(60);

    private static readonly KillPhase[] Wanted = [.. Enum.GetValues<KillPhase>().Where(phase => phase != KillPhase.None)];

    public override string Name => "kill";

    public override string Summary => "a process killed in every phase of its work, compared with a ledger of its acknowledged commits";

    public override string Unit => "kills";

    public override long TestCount => 50;

    public override long FullCount => 100_000;

    public override bool IsReplayable => false;

    // With cuts, a kill includes two mounts and a copy of the device's content, on a machine that may be busy.
    public override TimeSpan RunLimit => VolumeCut.IsOn ? TimeSpan.FromMinutes(30) : base.RunLimit;

    public override IReadOnlyList<string> NotCovered => ["the moment of a kill is not exact to the instruction: a failure is found, but may not be reproduced by a replay"];

    public override void Run(SuiteRun run)
    {
        var directory = VolumeCut.Volume is { } volume
            ? Directory.CreateDirectory(Path.Combine(volume, $"voron-kill-{run.Index}")).FullName
            : Directory.CreateTempSubdirectory("voron-kill-").FullName;
        var next = new KillTargetProcess();
        try
        {
            var ledger = new KillLedger();
            var isLeft = false;
            for (var kill = 0; kill < KillsPerRun && !run.Stop.IsCancellationRequested; kill++)
            {
                using var target = next;
                next = new KillTargetProcess();
                var wanted = isLeft ? KillPhase.Opening : Wanted[run.Choices.Next(Wanted.Length)];
                if (!TryKill(run, target, directory, wanted, out var least))
                    return;
                ledger.Acknowledge(least, target.Acknowledged);
                run.Count();
                run.Tally($"killed while {(isLeft && target.Phase == KillPhase.Opening ? "recovering" : Describe(target.Phase))}");
                isLeft = !isLeft && run.Choices.Next(LeftOneIn) == 0;
                if (!isLeft)
                    ledger.Compare(run, directory, kill);
            }
            if (isLeft)
                ledger.Compare(run, directory, KillsPerRun);
        }
        finally
        {
            next.Dispose();
            Directory.Delete(directory, recursive: true);
        }
    }

    /// <summary>Returns false if the run is to stop: then the process has been killed at an unknown place.</summary>
    private static bool TryKill(SuiteRun run, KillTargetProcess target, string directory, KillPhase wanted, out long least)
    {
        var delay = run.Choices.Next(LongestDelayMicroseconds);
        if (wanted == KillPhase.Dropping)
            delay *= StepsOfDrop;
        run.Step($"{wanted}, {delay} microseconds");
        target.Work(directory, run.Choices.Next());
        least = 0;
        if (!TryListen(run, target, wanted))
            return false;
        var begun = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(begun).TotalMicroseconds < delay)
            Thread.SpinWait(20);

        // Commits that are acknowledged after a cut has begun may be lost with it.
        least = target.Acknowledged;
        VolumeCut.CutPower();
        target.Kill();
        if (!VolumeCut.IsOn)
            least = target.Acknowledged;
        VolumeCut.Restore();
        return true;
    }

    // A read from a process that hangs waits until the process has ended, so the process is killed.
    private static bool TryListen(SuiteRun run, KillTargetProcess target, KillPhase wanted)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(run.Stop);
        using var end = limit.Token.Register(target.End);
        try
        {
            for (var reports = 0; reports < MaxReports && target.Phase != wanted; reports++)
            {
                limit.CancelAfter(Hanging);
                target.Listen();
            }
            return !run.Stop.IsCancellationRequested;
        }
        catch (BrokenPromiseException e) when (limit.IsCancellationRequested)
        {
            if (run.Stop.IsCancellationRequested)
                return false;
            throw new BrokenPromiseException($"The process hangs while {Describe(target.Phase)}: it has reported nothing for {Hanging.TotalSeconds} s.", e);
        }
    }

    private static string Describe(KillPhase phase) => phase == KillPhase.None ? "open" : phase.ToString().ToLowerInvariant();
}
