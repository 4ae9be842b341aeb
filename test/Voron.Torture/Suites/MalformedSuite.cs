using Voron.Torture.Damage;
using Voron.Torture.Harness;

namespace Voron.Torture.Suites;

/// <summary>Files forged together with their checksums, so that only what the bytes mean can tell.</summary>
internal sealed class MalformedSuite : Suite
{
    private static readonly Lazy<IReadOnlyList<StoreImage>> Images = new(StoreMaker.MakeAll);

    public override string Name => "malformed";

    public override string Summary => "fields of every structure forged with their checksums, then read, written, flushed, verified and reopened";

    public override string Unit => "files";

    public override long TestCount => 10_000;

    public override long FullCount => 10_000_000;

    /// <summary>Of one file: what is done with it takes milliseconds.</summary>
    public override TimeSpan RunLimit => TimeSpan.FromSeconds(10);

    public override IReadOnlyList<string> NotCovered =>
    [
        "wrong content: whoever forges a checksum may write anything that can be",
        "memory that threads of the engine's own take, beside the one that calls it: other runs take memory at the same time",
    ];

    public override void Run(SuiteRun run)
    {
        using var last = new LastCase(Name, run.Seed, run.Index);
        StoreImage image = Images.Value[run.Choices.Next(Images.Value.Count)];
        var store = new ForgedStore(image.Files);
        var forger = new Forger(store, run.Choices);
        var changes = new List<string>();
        for (int i = run.Choices.Next(4) == 0 ? run.Choices.Next(1, 5) : 1; i > 0; i--)
            changes.Add(forger.Change());
        store.Seal();
        string what = $"'{image.Name}': {string.Join("; ", changes)}";
        run.Step(what);
        last.Note(what);
        var malformed = new MalformedCase(image, store.Files, new Random(run.Choices.Next()));
        malformed.Run();
        run.Tally(malformed.Told > 0 ? "told" : "passed");
        run.Count();
    }
}
