using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Torture.Damage;

namespace Voron.Torture.Suites;

/// <summary>Flips every bit of small environments, zeroes and swaps blocks, cuts files, and mixes in bytes of other environments.</summary>
internal sealed class BitRotSuite : Suite
{
    private const int CasesPerRun = 250;

    // One case in eight opens for writing, which costs as much as several that only read.
    private const int WritableOneIn = 8;

    private static readonly Lazy<RotList> All = new(
        () => new RotList([.. StoreMaker.MakeAll(), .. StoreMaker.MakeWithIds(), .. StoreMaker.MakeWithValueSets(), .. StoreMaker.MakeRecorded()]));

    public override string Name => "bit-rot";

    public override string Summary => "every bit of small environments flipped, blocks zeroed or swapped, files cut or replaced by those of another environment";

    public override string Unit => "damages";

    public override long TestCount => 20_000;

    public override long FullCount => All.Value.Count;

    public override long? Runs => (All.Value.Count + CasesPerRun - 1) / CasesPerRun;

    public override IReadOnlyList<string> NotCovered =>
    [
        "the last record before the one that confirms its durability: damaged, it looks like a write that was under way; it is dropped, and its id is reported",
        "the same with all records that confirm its durability, by two swapped blocks",
        "its whole first block: then nothing is left that identifies the record (\"lost unseen\" in the tallies)",
        "a whole page or file from an earlier time: it is consistent in itself, so the format cannot detect it",
        "a missing journal file: the format does not record how many there were",
    ];

    public override void Run(SuiteRun run)
    {
        using var disks = new DiskSet(All.Value.Images);
        var all = All.Value;
        for (var turn = 0; turn < CasesPerRun && run.Choices.HasMore && !run.Stop.IsCancellationRequested; turn++)
        {
            var place = (run.Index * CasesPerRun) + turn;
            if (place >= all.Count)
                return;
            long number = run.Choices.Choose((int)all.Pick(place, run.Seed), (int)all.Count);
            var rot = all[number];
            var image = all.Images[rot.Image];
            run.Step($"{number}: '{image.Name}', {rot.Kind} {rot.Number} of {rot.File}");
            var foreign = rot.Kind >= RotKind.ForeignBlock ? all.ForeignOf(rot.Image).Files[rot.File] : null;
            var writable = run.Choices.Choose(WritableTurn(number, run.Seed), WritableOneIn) == WritableOneIn - 1;
            var disk = disks.Take(rot.Image);
            var hit = rot.Apply(disk, image.Files[rot.File], foreign);
            var outcome = new RotCase(image, rot, hit).Run(disk, writable);
            if (writable)
                disks.Drop(rot.Image);
            else
                rot.Undo(disk, image.Files[rot.File]);
            run.Tally(outcome switch { RotOutcome.Reported => "reported", RotOutcome.LostUnseen => "lost unseen", _ => "harmless" });
            if (writable)
                run.Tally("opened for writing");
            run.Count();
        }
    }

    // Bits of a byte have consecutive numbers, and each of them has to have its turn.
    private static int WritableTurn(long number, long seed) =>
        (int)((unchecked((ulong)(number + (seed * 31)) * 0x9E3779B97F4A7C15) >> 33) % WritableOneIn);

    /// <summary>A disk for each image, reused as long as it is only read.</summary>
    private sealed class DiskSet(IReadOnlyList<StoreImage> images) : IDisposable
    {
        private readonly ImageDisk?[] _disks = new ImageDisk?[images.Count];

        public ImageDisk Take(int image) => _disks[image] ??= new ImageDisk(images[image].Files, isLent: true);

        public void Drop(int image)
        {
            _disks[image]?.Free();
            _disks[image] = null;
        }

        public void Dispose()
        {
            for (var i = 0; i < _disks.Length; i++)
                Drop(i);
        }
    }
}
