using Voron.Salvaging;
using Voron.Simulation.Disks;
using Voron.Torture.Damage;
using Voron.Torture.Salvaging;

namespace Voron.Torture.Tests.Salvaging;

/// <summary>Salvages of stores that the suite <c>salvage-damage</c> has brought to light.</summary>
public sealed class SalvageImageTests
{
    private static readonly Lazy<IReadOnlyList<StoreImage>> Images = new(StoreMaker.MakeForSalvage);

    public static TheoryData<string> Unwritten =>
        new(Images.Value.Select(image => image.Name).Where(name => name.Contains("stamped as finished", StringComparison.Ordinal)));

    // The records that are left of a flush may name no page that is missing in the file, while a lost one does.
    [Theory]
    [MemberData(nameof(Unwritten))]
    public void A_flush_whose_records_are_not_all_there_proves_nothing(string name)
    {
        var image = Images.Value.Single(image => image.Name == name);
        foreach (var record in image.Records)
        {
            var damage = new StoreDamage(record.File, "flipped", (int)record.Offset, 1, 1);
            var target = new CollectedTrees();
            var report = Run(damage.Apply(image.Files), damage, target);
            if (!report.IsProven || report.TransactionId == 0)
                continue;
            var expected = image.Contents[report.TransactionId].Trees.ToDictionary(
                tree => tree.Tree, tree => tree.Entries.ToDictionary(entry => Convert.ToHexString(entry.Key), entry => entry.Value));
            foreach (var (tree, entries) in target.Trees)
            {
                expected.Should().ContainKey(tree, "{0}, {1}", name, damage);
                foreach (var (key, value) in entries)
                    expected[tree].GetValueOrDefault(key).Should().Equal(value, "{0}, {1}", name, damage);
            }
        }
    }

    [Fact]
    public void An_old_value_whose_place_has_another_is_no_loss()
    {
        var image = Images.Value.Single(image => image.Name == "places used again");
        var report = Run(image.Files, null, new CollectedTrees(), new SalvageOptions { IncludeStale = true });
        report.Trees.Should().Contain(tree => tree.Superseded > 0, "values of old leaves are gone");
        report.Trees.Should().OnlyContain(tree => tree.LostValues.Count == 0);
        (report.DamageCount, report.HasLosses).Should().Be((0, false));
    }

    [Fact]
    public void A_journal_snapshot_that_can_be_read_only_once_does_not_end_a_salvage()
    {
        var image = Images.Value.Single(image => image.Name == "with a journal snapshot");
        var file = image.Files.Names.Single(name => name.StartsWith("rewrite-", StringComparison.Ordinal));
        var target = new CollectedTrees();
        var report = Run(image.Files, new StoreDamage(file, "readable only once", 0, ForgedStore.PageSize, 0), target);
        report.HasLosses.Should().BeTrue();
        target.Trees.Should().ContainKey("items");
    }

    private static SalvageReport Run(StoreFiles files, StoreDamage? damage, CollectedTrees target, SalvageOptions? options = null)
    {
        var places = new UnreadablePlaces(damage == null ? [] : [damage]);
        var disk = new ImageDisk(files, isLent: true) { IsReadOnly = true, FailsRead = places.Fails };
        try
        {
            using var source = DamagedSource.Open(disk, TestContext.Current.CancellationToken);
            var findings = new SalvageRun(source, options ?? new SalvageOptions(), TestContext.Current.CancellationToken).Run(_ => target);
            return Salvage.ToReport(source, "target", findings, 0);
        }
        finally
        {
            disk.Free();
        }
    }
}
