using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Format;

/// <summary>A header that was copied before the first tree of a kind, beside a later journal: the opening names the feature.</summary>
[Quick]
public sealed class ReplayedFeatureTests
{
    private const FormatFeatures Both = FormatFeatures.FixedSizeTrees | FormatFeatures.IdSets;
    private const int ManyTrees = 100;

    [Fact]
    public void An_opening_for_writing_names_the_features_that_replayed_transactions_use()
    {
        var disk = FaultTestKit.DiskOf(MakeWithOlderHeader());
        var logger = new ListLogger();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options(logger)))
        {
            Slots(disk).Should().OnlyContain(slot => slot.Features == Both, "both slots name them before anything else is written");
            Check(environment);
            _ = FaultTestKit.WarningsOf(environment, logger);
            logger.Entries.Where(entry => entry.Message.Contains(Both.ToString(), StringComparison.Ordinal)).Should().ContainSingle();
            environment.Flush();
            Check(environment);
        }

        Slots(disk).Should().OnlyContain(slot => slot.Features == Both);
        using var again = StorageEnvironment.Open(disk, FaultTestKit.Options());
        Check(again);
    }

    [Fact]
    public void An_opening_for_reading_takes_them_for_named_and_writes_nothing()
    {
        var files = MakeWithOlderHeader();
        var disk = FaultTestKit.DiskOf(files);
        disk.IsReadOnly = true;
        using (var environment = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true }))
            Check(environment);
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(disk), files);
    }

    /// <summary>After any call of the opening, the power may fail: the next opening finds the same.</summary>
    [Fact]
    public void An_opening_that_is_cut_short_leaves_it_to_the_next_one()
    {
        var files = MakeWithOlderHeader();
        for (var slots = 0; slots < CheckpointHeader.Slots; slots++)
        {
            var disk = FaultTestKit.DiskOf(files);
            var written = 0;
            disk.FailNext(
                call => call.Kind == DiskCallKind.Write && call.Name == HeaderFile.FileName && written++ == slots, DiskError.Failed);
            var open = () => StorageEnvironment.Open(disk, FaultTestKit.Options());
            open.Should().Throw<VoronException>();
            Slots(disk).Count(slot => slot.Features == Both).Should().Be(slots);
            using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
            Check(environment);
            Slots(disk).Should().OnlyContain(slot => slot.Features == Both);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void The_catalog_is_read_only_if_a_tree_has_been_created(bool creates)
    {
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> files;
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            environment.Write(writing =>
            {
                for (var i = 0; i < ManyTrees; i++)
                    writing.CreateTree($"{i:D3}{new string('n', 200)}");
            });
            environment.Flush();
            FaultTestKit.Put(environment, 1, [1]);
            environment.Flush();
            environment.Write(writing =>
            {
                if (creates)
                    writing.CreateTree("zz").Put("key"u8, "value"u8);
                writing.OpenTree(FaultTestKit.TreeName).Put("key"u8, "value"u8);
            });
            files = FaultTestKit.Bytes(disk);
        }

        DamageCatalog(files);
        using var opened = StorageEnvironment.Open(FaultTestKit.DiskOf(files), FaultTestKit.Options());
        opened.Internals.Engine.Format.Features.Should().Be(creates ? JournalFormat.KnownFeatures : FormatFeatures.None,
            "trees that cannot be read may be of any kind");
        FaultTestKit.Get(opened, 1).Should().Equal(1);
    }

    private static SortedDictionary<string, byte[]> MakeWithOlderHeader()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        environment.Flush();
        var header = FaultTestKit.Bytes(disk)[HeaderFile.FileName];
        environment.Write(writing =>
        {
            writing.CreateFixedTree("array", 1).Put(7, [3]);
            writing.CreateIdTree("ids").Add("key"u8, 5);
        });
        var files = FaultTestKit.Bytes(disk);
        files[HeaderFile.FileName] = header;
        return files;
    }

    private static void Check(StorageEnvironment environment)
    {
        environment.Internals.Engine.Format.Features.Should().Be(Both);
        environment.Verify().Problems.Should().BeEmpty();
        FaultTestKit.Get(environment, 1).Should().Equal(1);
        using var reading = environment.BeginRead();
        reading.OpenFixedTree("array").TryGet(7, out var value).Should().BeTrue();
        value.ToArray().Should().Equal(3);
        reading.OpenIdTree("ids").Contains("key"u8, 5).Should().BeTrue();
    }

    private static CheckpointHeader[] Slots(SimulatedDisk disk)
    {
        var bytes = FaultTestKit.Bytes(disk)[HeaderFile.FileName];
        return [Load(bytes, 0), Load(bytes, 1)];
    }

    private static unsafe CheckpointHeader Load(byte[] file, int slot)
    {
        fixed (byte* bytes = file)
            return CheckpointHeader.Load(bytes + slot * JournalFormat.Block);
    }

    // A leaf of the catalog with trees that no transaction behind the header has changed.
    private static void DamageCatalog(SortedDictionary<string, byte[]> files)
    {
        const int size = 4096;
        var data = files[DataFile.FileName];
        for (var at = 0; at < data.Length; at += size)
        {
            var header = MemoryMarshal.Read<PageHeader>(data.AsSpan(at));
            if (header.Kind != PageKind.Leaf || header.TreeMark != 1 || data.AsSpan(at, size).IndexOf("010nnn"u8) < 0)
                continue;
            data[at + size - 1] ^= 1;
            return;
        }

        throw new InvalidOperationException("There is no such page.");
    }
}
