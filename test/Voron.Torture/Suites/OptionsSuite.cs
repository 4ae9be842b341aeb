using Voron.Simulation.Harness;
using Voron.Torture.Options;

namespace Voron.Torture.Suites;

/// <summary>Tests numeric options at their limits, alone and with others, under load.</summary>
internal sealed class OptionsSuite : Suite
{
    public override string Name => "options";

    public override string Summary =>
        $"each numeric option at its limits, alone and with others, under load: correct, and no slower than {OptionsRun.Floor} commits a second";

    public override string Unit => "settings";

    public override long TestCount => 40;

    public override long FullCount => 20_000;

    // The background flusher makes choices of its own.
    public override bool IsReplayable => false;

    // The runs measure speed.
    public override int Threads => 1;

    public override IReadOnlyList<string> NotCovered =>
    [
        "journals of more than some megabytes, and limits that are reached only by gigabytes",
        $"the floor on a device: one setting in four is on real files, where {OptionsRun.FloorOnFiles} commits a second are enough",
    ];

    public override void Run(SuiteRun run)
    {
        if (OptionLimits.Untried.ToList() is [var untried, ..])
            throw new TortureException($"The option {untried} has no values to be tried.");
        var settings = new OptionsRun(run);
        var fits = settings.Run();
        run.Tally(fits ? "accepted" : "refused");
        if (settings.IsOnFiles)
            run.Tally("on files");
        if (settings.ReachesLimit)
            run.Tally("beyond the limit of the journal");
        run.Count();
    }
}
