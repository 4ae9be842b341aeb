using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;
using Voron.Salvaging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Torture.Damage;
using Voron.Torture.Salvaging;
using Voron.Trees.Pages;

namespace Voron.Torture.Tests.Salvaging;

/// <summary>A flush has written pages of transactions that the journal has lost: they stay as they are.</summary>
public sealed class NewerPageTests
{
    private const string Name = "fixed";
    private const int Keys = 40;
    private const int PageSize = 4096;
    private static readonly byte[] Never = [0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE];

    [Fact]
    public void Older_diffs_do_not_change_a_page_that_is_newer_than_the_journal()
    {
        var (files, journal) = Make();
        foreach (var (name, bytes) in journal.Where(file => file.Key.StartsWith("journal", StringComparison.Ordinal)))
            files[name] = bytes;
        files[HeaderFile.FileName] = journal[HeaderFile.FileName];
        var (report, found) = Salvage(files);
        report.IsProven.Should().BeFalse("the data file is newer than the journal");
        found.Values.Select(Convert.ToHexString).Should().NotContain(Convert.ToHexString(Never), "no transaction has committed it");
        found.Keys.Should().BeEquivalentTo(KeysWithout(20, 200), "the page is as of the transaction that the flush wrote");
    }

    [Fact]
    public void A_journal_that_ends_anywhere_before_a_flush_makes_no_entries_up()
    {
        foreach (var image in StoreMaker.MakeForSalvage().Where(image => image.Name.StartsWith("flushing", StringComparison.Ordinal)))
        {
            foreach (var record in image.Records)
            {
                var files = image.Files.With(record.File, image.Files[record.File][..(int)record.Offset]);
                using var disk = new ImageDisk(files) { IsReadOnly = true };
                using var source = DamagedSource.Open(disk, TestContext.Current.CancellationToken);
                var target = new CollectedTrees();
                _ = new SalvageRun(source, new SalvageOptions(), TestContext.Current.CancellationToken).Run(_ => target);
                foreach (var (name, entries) in target.Trees)
                {
                    var tree = name.StartsWith("lost+found", StringComparison.Ordinal) ? null : name;
                    var history = EntryHistory.Of(image);
                    var unknown = entries.Where(entry => !history.ValuesOf(tree, entry.Key).Any(known => known.SequenceEqual(entry.Value)));
                    unknown.Should().BeEmpty($"'{name}' of '{image.Name}', cut at {record.Offset}");
                }
            }
        }
    }

    /// <summary>No checksum covers the transaction in a page, so it counts only where nothing else could be right.</summary>
    [Theory]
    [InlineData(1L)]
    [InlineData(1_000L)]
    [InlineData(long.MaxValue)]
    [InlineData(-1L)]
    public void A_transaction_in_a_page_counts_for_nothing_in_a_data_file_that_fits(long version)
    {
        var (_, files) = Make();
        var data = files[DataFile.FileName];
        for (var at = 0; at < data.Length; at += PageSize)
        {
            ref var header = ref MemoryMarshal.AsRef<PageHeader>(data.AsSpan(at));
            if (header.Kind == PageKind.Array && header.TransactionId != 0)
                header.TransactionId = version;
        }

        var (report, found) = Salvage(files);
        report.IsProven.Should().BeTrue();
        found.Keys.Should().BeEquivalentTo(KeysWithout(20));
    }

    // The files at the end, and before the last transaction and its flush.
    private static (SortedDictionary<string, byte[]> Files, SortedDictionary<string, byte[]> Before) Make()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        environment.Write(writing =>
        {
            var tree = writing.CreateFixedTree(Name, Never.Length);
            for (var i = 0; i < Keys; i++)
                tree.Put(i * 7 % Keys * 10, FaultTestKit.Value(i, Never.Length));
        });
        environment.Flush();
        environment.Write(writing => writing.OpenFixedTree(Name).Delete(20));
        environment.Internals.ConfirmDurability();
        var before = FaultTestKit.Bytes(disk);
        environment.Write(writing =>
        {
            var tree = writing.OpenFixedTree(Name);
            tree.Put(200, Never);
            tree.Delete(200);
        });
        environment.Flush();
        return (FaultTestKit.Bytes(disk), before);
    }

    private static (SalvageReport Report, Dictionary<string, byte[]> Found) Salvage(SortedDictionary<string, byte[]> files)
    {
        var disk = FaultTestKit.DiskOf(files);
        disk.IsReadOnly = true;
        using var source = DamagedSource.Open(disk, TestContext.Current.CancellationToken);
        var target = new CollectedTrees();
        var findings = new SalvageRun(source, new SalvageOptions(), TestContext.Current.CancellationToken).Run(_ => target);
        return (Voron.Salvage.ToReport(source, "target", findings, 0), target.Trees[Name]);
    }

    private static IEnumerable<string> KeysWithout(params long[] deleted) =>
        Enumerable.Range(0, Keys).Select(i => i * 10L).Except(deleted).Select(key => Convert.ToHexString(ArrayKey.ToBytes(key)));
}
