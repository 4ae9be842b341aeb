using Voron.Simulation.Harness;
using Voron.Torture.Damage;

namespace Voron.Torture.Suites;

/// <summary>Forges files together with their checksums, so that only the meaning of the bytes can reveal the damage.</summary>
internal sealed class MalformedSuite : Suite
{
    // Those with tables and a feed have many kinds of records, so they come twice as often.
    private static readonly Lazy<IReadOnlyList<StoreImage>> Images = new(() =>
    {
        var recorded = StoreMaker.MakeRecorded();
        return [.. StoreMaker.MakeAll(), .. StoreMaker.MakeWithIds(), .. StoreMaker.MakeWithValueSets(), .. recorded, .. recorded];
    });

    public override string Name => "malformed";

    public override string Summary => "fields of every structure forged with their checksums, then read, written, flushed, verified and reopened";

    public override string Unit => "files";

    public override long TestCount => 6_000;

    public override long FullCount => 10_000_000;

    /// <summary>The limit for one file: its operations take milliseconds.</summary>
    public override TimeSpan RunLimit => TimeSpan.FromSeconds(10);

    public override IReadOnlyList<string> NotCovered =>
    [
        "wrong content: an attacker who forges a checksum can write any valid content",
        "memory taken by the engine's own threads, beside the calling one: other runs take memory at the same time",
    ];

    public override void Run(SuiteRun run)
    {
        using var last = new LastCase(Name, run.Seed, run.Index);
        var image = Images.Value[run.Choices.Next(Images.Value.Count)];
        var store = new ForgedStore(image.Files);
        var forger = new Forger(store, run.Choices);
        var changes = new List<string>();
        for (var i = run.Choices.Next(4) == 0 ? run.Choices.Next(1, 5) : 1; i > 0; i--)
            changes.Add(forger.Change());
        store.Seal();
        var what = $"'{image.Name}': {string.Join("; ", changes)}";
        run.Step(what);
        last.Note(what);
        var malformed = new MalformedCase(image, store.Files, new Random(run.Choices.Next()));
        malformed.Run();
        run.Tally(malformed.ReportedErrors > 0 ? "reported" : "passed");
        run.Count();
    }
}
