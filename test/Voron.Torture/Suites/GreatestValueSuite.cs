using Voron.Simulation.Harness;
using Voron.Torture.Boundaries;

namespace Voron.Torture.Suites;

/// <summary>Tests the greatest values that are allowed, and one that is greater.</summary>
internal sealed class GreatestValueSuite : Suite
{
    public override string Name => "greatest-value";

    public override string Summary => "values of 2^31 - 2, 2^31 - 1 and 2^31 bytes on real files, and backups, compactions and salvages of what is greatest";

    public override string Unit => "values";

    public override long TestCount => 1;

    public override long FullCount => GreatestValues.All.Count;

    public override long? Runs => GreatestValues.All.Count;

    /// <summary>Each value takes the whole device, and some GiB of its space.</summary>
    public override int Threads => 1;

    public override TimeSpan RunLimit => TimeSpan.FromMinutes(15);

    public override IReadOnlyList<string> NotCovered =>
    [
        "all of them in the ordinary tests, because of the time that they take",
        $"all of them where the directory for temporary files has less than {GreatestValues.NeededBytes >> 30} GiB of free space: they are reported as left out",
        "crashes while such a value is written: kill-then-cut covers values of some MiB",
    ];

    public override void Run(SuiteRun run)
    {
        (var name, var attempt) = GreatestValues.All[run.Choices.Choose((int)run.Index, GreatestValues.All.Count)];
        if (new DriveInfo(Path.GetTempPath()).AvailableFreeSpace < GreatestValues.NeededBytes)
        {
            run.Tally($"left out for lack of space: {name}");
            return;
        }
        run.Step(name);
        attempt();
        run.Count();
    }
}
