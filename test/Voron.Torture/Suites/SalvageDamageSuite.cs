using Voron.Simulation.Harness;
using Voron.Torture.Damage;
using Voron.Torture.Salvaging;

namespace Voron.Torture.Suites;

/// <summary>Salvages of damaged environments: files that are gone, cut or changed, one or several.</summary>
internal sealed class SalvageDamageSuite : Suite
{
    private static readonly Lazy<IReadOnlyList<StoreImage>> Images = new(StoreMaker.MakeForSalvage);

    public override string Name => "salvage-damage";

    public override string Summary =>
        "files gone, cut, zeroed, changed and unreadable, then salvaged: nothing proven is wrong, nothing that was not hit is missing";

    public override string Unit => "salvages";

    public override long TestCount => 3_000;

    public override long FullCount => 100_000;

    public override IReadOnlyList<string> NotCovered =>
    [
        "the writing of the new environment: entries are collected in memory",
        "what is missing after several damages: the report must name it, but may name more than was hit",
        "files of several groups of sections, one of whose maps is behind the end of a file that was cut",
    ];

    public override void Run(SuiteRun run)
    {
        var image = Images.Value[run.Choices.Next(Images.Value.Count)];
        run.Report(image.Name);
        new SalvageCase(image, run).Run();
        run.Count();
    }
}
