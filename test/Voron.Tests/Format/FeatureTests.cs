using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Backup;
using Voron.Tests.Faults;
using Voron.Trees;

namespace Voron.Tests.Format;

/// <summary>The header names a feature of the format, durably, before its first use.</summary>
public sealed class FeatureTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public void The_header_names_a_feature_before_the_transaction_that_uses_it(int version)
    {
        var logger = new ListLogger();
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options(version, logger)))
        {
            FaultTestKit.Put(environment, 1, [1]);
            using (var writing = environment.BeginWrite())
            {
                writing.CreateTree("plain").Put("key"u8, "value"u8);
                Slots(disk).Should().OnlyContain(slot => slot.Features == FormatFeatures.None && slot.Version == version);
                CreateArray(writing, 8);
                var slots = Slots(disk);
                slots.Should().OnlyContain(slot => slot.Features == FormatFeatures.FixedSizeTrees && slot.Version == JournalFormat.Version);
                slots[0].Should().Be(slots[1]);
                slots[0].Lineage.Id.Should().NotBe(default(RandomId));
                CreateArray(writing, 8, "another");
                writing.Commit();
            }

            _ = FaultTestKit.WarningsOf(environment, logger);
            logger.Entries.Where(entry => entry.Message.Contains("FixedSizeTrees", StringComparison.Ordinal)).Should().ContainSingle();
            environment.Verify().Problems.Should().BeEmpty();
            environment.Flush();
            disk = FaultTestKit.DiskOf(FaultTestKit.Bytes(disk));
        }

        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            environment.Internals.Engine.Format.Features.Should().Be(FormatFeatures.FixedSizeTrees);
            environment.Verify().Problems.Should().BeEmpty();
            FaultTestKit.Get(environment, 1).Should().Equal(1);
        }

        Slots(disk).Should().OnlyContain(slot => slot.Features == FormatFeatures.FixedSizeTrees, "a clean close keeps them");
    }

    [Fact]
    public void A_rollback_leaves_a_feature_without_a_tree()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options(1)))
        {
            using (var writing = environment.BeginWrite())
                CreateArray(writing, 8);

            using var reading = environment.BeginRead();
            reading.GetTreeNames().Should().BeEmpty();
        }

        using var again = StorageEnvironment.Open(disk, FaultTestKit.Options());
        again.Internals.Engine.Format.Features.Should().Be(FormatFeatures.FixedSizeTrees);
        again.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData(1, 0)]
    [InlineData(1, 1)]
    [InlineData(2, 0)]
    [InlineData(2, 1)]
    public void A_change_of_features_that_was_cut_short_is_completed_by_the_next_opening(int version, int written)
    {
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> before, after;
        using (var environment = StorageEnvironment.Open(disk, Options(version)))
        {
            FaultTestKit.Put(environment, 1, [1]);
            environment.Flush();
            before = FaultTestKit.Bytes(disk);
            using var writing = environment.BeginWrite();
            CreateArray(writing, 8);
            after = FaultTestKit.Bytes(disk);
        }

        // Both slots have the same checkpoint, and one of them the feature.
        var header = before[HeaderFile.FileName];
        var newer = Enumerable.Range(0, CheckpointHeader.Slots).MaxBy(slot => Load(header, slot).CheckpointNumber);
        var old = header.AsSpan(newer * JournalFormat.Block, JournalFormat.Block).ToArray();
        old.CopyTo(header.AsSpan((1 - written) * JournalFormat.Block));
        after[HeaderFile.FileName].AsSpan(0, JournalFormat.Block).CopyTo(header.AsSpan(written * JournalFormat.Block));
        var half = FaultTestKit.DiskOf(before);
        using (var environment = StorageEnvironment.Open(half, FaultTestKit.Options()))
        {
            environment.Internals.Engine.Format.Features.Should().Be(FormatFeatures.FixedSizeTrees);
            var slots = Slots(half);
            slots[0].Should().Be(slots[1], "the opening writes the other slot");
            slots[0].Version.Should().Be(JournalFormat.Version);
        }
    }

    [Theory]
    [InlineData(0, FormatFeatures.None)]
    [InlineData(1, FormatFeatures.FixedSizeTrees)]
    internal void A_header_that_cannot_be_written_fails_the_creation_and_poisons(int slotsBefore, FormatFeatures featuresAfter)
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options(1)))
        {
            FaultTestKit.Put(environment, 1, [1]);
            using (var writing = environment.BeginWrite())
            {
                var slots = 0;
                disk.FailNext(
                    call => call.Kind == DiskCallKind.Write && call.Name == HeaderFile.FileName && slots++ == slotsBefore, DiskError.Failed);
                var create = () => CreateArray(writing, 8);
                create.Should().Throw<EnvironmentPoisonedException>();
                environment.Internals.Engine.Format.Features.Should().Be(FormatFeatures.None);

                // Nothing of the tree exists, and nothing more is committed.
                writing.GetTreeNames().Should().Equal(FaultTestKit.TreeName);
                writing.OpenTree(FaultTestKit.TreeName).Put("more"u8, "more"u8);
                var commit = () => writing.Commit();
                commit.Should().Throw<EnvironmentPoisonedException>();
            }

            FaultTestKit.Get(environment, 1).Should().Equal(1);
        }

        using var again = StorageEnvironment.Open(disk, FaultTestKit.Options());
        again.Internals.Engine.Format.Features.Should().Be(featuresAfter);
        again.Verify().Problems.Should().BeEmpty();
        FaultTestKit.Get(again, 1).Should().Equal(1);
        using (var writing = again.BeginWrite())
        {
            CreateArray(writing, 8);
            writing.Commit();
        }

        Slots(disk).Should().OnlyContain(slot => slot.Features == FormatFeatures.FixedSizeTrees && slot.Version == JournalFormat.Version);
    }

    [Fact]
    public void A_kind_that_this_engine_could_not_open_again_is_not_created()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            using var writing = environment.BeginWrite();
            foreach (var (kind, bytes) in new[] { ((TreeKind)5, 0), (TreeKind.FixedSize, 9000), (TreeKind.FixedSize, -1), (TreeKind.Plain, 8) })
            {
                var create = () => writing.Body.CreateTree("tree"u8, kind, bytes);
                create.Should().Throw<ArgumentException>();
            }

            writing.GetTreeNames().Should().BeEmpty();
            writing.CreateTree("tree").Put("key"u8, "value"u8);
            writing.Commit();
        }

        Slots(disk).Should().OnlyContain(slot => slot.Features == FormatFeatures.None);
    }

    [Fact]
    public void Verify_finds_a_tree_whose_feature_the_header_does_not_name()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            using var writing = environment.BeginWrite();
            CreateArray(writing, 8);
            writing.Commit();
        }

        var files = FaultTestKit.Bytes(disk);
        for (var slot = 0; slot < CheckpointHeader.Slots; slot++)
        {
            var block = files[HeaderFile.FileName].AsSpan(slot * JournalFormat.Block, JournalFormat.Block);
            MemoryMarshal.AsRef<CheckpointHeader>(block).Features = FormatFeatures.None;
            MemoryMarshal.AsRef<CheckpointHeader>(block).Checksum = Checksum.Compute(block[16..], CheckpointHeader.FileMagic);
        }

        using var forged = StorageEnvironment.Open(FaultTestKit.DiskOf(files), FaultTestKit.Options());
        forged.Verify().Problems.Should().ContainSingle().Which.Should().Contain("tree 'array'").And.Contain("feature FixedSizeTrees");
    }

    [Fact]
    public async Task A_backup_during_which_a_feature_is_first_used_is_refused()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100_000));
        var target = new FirstWriteStream(() =>
        {
            using var writing = environment.BeginWrite();
            CreateArray(writing, 8);
            writing.Commit();
        });
        var backup = async () => await environment.BackupAsync(target, null, TestContext.Current.CancellationToken);
        var thrown = await backup.Should().ThrowAsync<BackupException>().WithMessage("*began to use the feature FixedSizeTrees*Make it again*");
        thrown.Which.Fault.Should().Be(BackupFault.FormatChanged);

        // The next one names the feature.
        using var second = new MemoryStream();
        await environment.BackupAsync(second, null, TestContext.Current.CancellationToken);
        var restored = new SimulatedDisk();
        await BackupTestKit.Restore(restored, second.ToArray());
        Slots(restored).Should().OnlyContain(slot => slot.Features == FormatFeatures.FixedSizeTrees);
        using var again = StorageEnvironment.Open(restored, FaultTestKit.Options());
        again.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Backups_that_build_on_one_another_restore_the_features_of_the_last()
    {
        var token = TestContext.Current.CancellationToken;
        using var place = new TemporaryDirectory();
        var files = new[] { Path.Combine(place.Path, "a.vback"), Path.Combine(place.Path, "b.vback"), Path.Combine(place.Path, "merged.vback") };
        using (var environment = StorageEnvironment.Open(Path.Combine(place.Path, "source"), FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 1, [1]);
            var full = await environment.BackupAsync(files[0], new BackupOptions { IsBase = true }, token);
            using (var writing = environment.BeginWrite())
            {
                CreateArray(writing, 8);
                writing.Commit();
            }

            environment.Flush();
            await environment.BackupAsync(files[1], new BackupOptions { Since = full.BackupId, IsBase = true }, token);
        }

        await BackupFile.MergeAsync(files[..2], files[2], compress: false, token);
        foreach (var (chain, name) in new[] { (files[..2], "chain"), (files[2..], "whole") })
        {
            var target = Path.Combine(place.Path, name);
            await BackupFile.RestoreAsync(chain, target, null, token);
            using var restored = StorageEnvironment.Open(target, FaultTestKit.Options());
            restored.Internals.Engine.Format.Features.Should().Be(FormatFeatures.FixedSizeTrees);
            restored.Verify().Problems.Should().BeEmpty();
        }
    }

    private static void CreateArray(WriteTransaction writing, int valueBytes, string name = "array")
    {
        Span<byte> buffer = stackalloc byte[256];
        writing.Body.CreateTree(Catalog.Encode(name, buffer), TreeKind.FixedSize, valueBytes);
    }

    private static StorageOptions Options(int version, ListLogger? logger = null)
    {
        var options = FaultTestKit.Options(logger);
        options.FormatVersion = version;
        return options;
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

    /// <summary>Does something once, before the first bytes are written.</summary>
    private sealed class FirstWriteStream(Action work) : MemoryStream
    {
        private Action? _work = work;

        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
        {
            Interlocked.Exchange(ref _work, null)?.Invoke();
            return base.WriteAsync(buffer, cancellationToken);
        }

        public override void Write(ReadOnlySpan<byte> buffer)
        {
            Interlocked.Exchange(ref _work, null)?.Invoke();
            base.Write(buffer);
        }
    }
}
