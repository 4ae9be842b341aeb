using Voron.Simulation.Harness;
using Voron.Torture.SlowIo;

namespace Voron.Torture.Suites;

/// <summary>Makes observers, log and operations of group commits throw, block, call the environment, and close it.</summary>
internal sealed class CallbacksSuite : Suite
{
    private static readonly int Places = Enum.GetValues<CallbackPlace>().Length;
    private static readonly int Deeds = Enum.GetValues<CallbackDeed>().Length;

    public override string Name => "callbacks";

    public override string Summary => "every observer, log and operation of a group commit throws, blocks, calls the environment, or disposes it";

    public override string Unit => "callbacks";

    public override long TestCount => 200;

    public override long FullCount => 100_000;

    public override int Threads => 2;

    public override IReadOnlyList<string> NotCovered =>
    [
        "streams from which a put reads, and schedulers on which continuations run",
        "the system decides in which order threads run: a failure is found, but may not be reproduced by a replay",
    ];

    public override void Run(SuiteRun run)
    {
        var choices = run.Choices;
        var deeds = new List<(CallbackPlace Place, CallbackDeed Deed, int At)>();
        run.Step("an environment");
        for (var i = choices.Next(1, 4); ; i--)
        {
            choices.Mark();
            if (!choices.GoesOn(i > 0))
                break;
            var deed = ((CallbackPlace)choices.Next(Places), (CallbackDeed)choices.Next(Deeds), choices.Next(6));
            run.Report($"call {deed.Item3} of the {deed.Item1}: {deed.Item2}");
            deeds.Add(deed);
        }
        var inBackground = choices.Next(2) == 1;
        var commits = choices.Next(4, 30);
        var threads = choices.Next(1, 4);
        run.Step($"{threads} threads with {commits} commits each, {(inBackground ? "flushed in the background" : "flushed when asked for")}");
        new CallbackRun(deeds, run).Make(inBackground, threads, commits, choices.Next(2) == 1, choices.Next(4) == 3);
    }
}
