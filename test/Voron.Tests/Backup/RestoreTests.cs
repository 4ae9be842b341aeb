using System.Globalization;
using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>A restored environment has every key, is sound, can be used, and is one of its own.</summary>
public sealed class RestoreTests
{
    [Theory]
    [InlineData(4096, 2, 16, false)]
    [InlineData(4096, 2, 1, true)]
    [InlineData(4096, 1, 250, true)]
    [InlineData(8192, 2, 7, false)]
    [InlineData(65536, 2, 3, true)]
    public async Task A_restored_environment_is_as_the_backup(int pageSize, int formatVersion, int pagesPerFrame, bool isCompressed)
    {
        var source = MakeEnvironment(formatVersion, pageSize);
        var image = EnvironmentImage.Read(source);
        var expected = ContentOf(source);
        var backup = BackupBuilder.Full(image, pagesPerFrame, isCompressed).WithNote("Grüße").WithIndex().Build();

        var target = new SimulatedDisk();
        var report = await Restore(target, backup);
        report.Pages.Should().Be(image.UsedPages.Count);
        report.Bytes.Should().Be(backup.Length);
        report.Verification!.IsSound.Should().BeTrue();
        report.Backup.Note.Should().Be("Grüße");
        target.List().Select(entry => entry.Name).Should().BeEquivalentTo("voron.header", "voron.data");
        target.HeldLocks.Should().Be(0);
        target.OpenFiles.Should().Be(0);
        CheckHeader(target, image);

        using var restored = StorageEnvironment.Open(target, FaultTestKit.Options());
        restored.Verify().Problems.Should().BeEmpty();
        ContentOf(restored).Should().BeEquivalentTo(expected);
        restored.Write(writing => writing.CreateTree("t").Put(FaultTestKit.Key(900), FaultTestKit.Value(900, 50_000)));
        ContentOf(restored).Should().HaveCount(expected.Count + 1);
        restored.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_chain_restores_the_state_of_its_last_backup()
    {
        var source = MakeEnvironment();
        var full = BackupBuilder.Full(EnvironmentImage.Read(source));
        var fullBytes = full.Build();
        Change(source, 1000, keys: [3, 20, 27, 130, 139], deleted: [0, 10, 13, 57]);
        var first = BackupBuilder.Incremental(EnvironmentImage.Read(source), full);
        var firstBytes = first.Build();
        var between = ContentOf(source);
        Change(source, 2000, keys: [7, 9, 20, 150], deleted: [130, 3, 90]);
        var image = EnvironmentImage.Read(source);
        var secondBytes = BackupBuilder.Incremental(image, first).Build();
        firstBytes.Length.Should().BeLessThan(fullBytes.Length / 2, "only a few pages have changed");

        await Verify(firstBytes);
        await Verify(secondBytes);
        var target = new SimulatedDisk();
        var report = await Restore(target, fullBytes, firstBytes, secondBytes);
        report.Backup.IsFull.Should().BeFalse();
        report.Backup.TransactionId.Should().Be(image.Header.State.TransactionId);
        report.Bytes.Should().Be(fullBytes.Length + firstBytes.Length + secondBytes.Length);
        ContentOf(target).Should().BeEquivalentTo(ContentOf(source));

        target = new SimulatedDisk();
        await Restore(target, fullBytes, firstBytes);
        ContentOf(target).Should().BeEquivalentTo(between);
    }

    /// <summary>It kept the blocks of all that had been deleted since the full backup.</summary>
    [Fact]
    public async Task A_chain_takes_no_more_room_than_its_last_state()
    {
        var source = new SimulatedDisk();
        Fill(0);
        var full = BackupBuilder.Full(EnvironmentImage.Read(source));
        var fullBytes = full.Build();
        using (var environment = StorageEnvironment.Open(source, FaultTestKit.Options()))
            environment.Write(static writing => writing.OpenTree("t").DeleteRange(KeyRange.From(FaultTestKit.Key(1)).Before(FaultTestKit.Key(99))));
        var smallBytes = BackupBuilder.Incremental(EnvironmentImage.Read(source), full).Build();

        var (large, small) = (new SimulatedDisk(), new SimulatedDisk());
        await Restore(large, fullBytes);
        await Restore(small, fullBytes, smallBytes);
        large.UsedBytes.Should().BeGreaterThan(10_000_000);
        small.UsedBytes.Should().BeLessThan(1_000_000);
        ContentOf(small).Should().HaveCount(2).And.BeEquivalentTo(ContentOf(source));

        // The pages without blocks can be written.
        source = small;
        Fill(1);
        using var restored = StorageEnvironment.Open(small, FaultTestKit.Options());
        ContentOf(restored).Should().HaveCount(100);
        restored.Verify().Problems.Should().BeEmpty();

        void Fill(int seed)
        {
            using var environment = StorageEnvironment.Open(source, FaultTestKit.Options());
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                for (var i = 0; i < 100; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(seed + i, 150_000));
            });
        }
    }

    [Fact]
    public async Task A_stream_is_read_from_its_position_and_stays_open()
    {
        var source = MakeEnvironment();
        var backup = BackupBuilder.Full(EnvironmentImage.Read(source), isCompressed: true).Build();
        var stream = new TrickleStream(backup);
        var target = new SimulatedDisk();
        var report = await BackupFile.RestoreAsync(BackupSource.OfStream(stream), target, new RestoreOptions(), CancellationToken.None);
        stream.IsClosed.Should().BeFalse();
        report.Verification!.IsSound.Should().BeTrue();
        ContentOf(target).Should().BeEquivalentTo(ContentOf(source));

        using var memory = new MemoryStream([1, 2, 3, .. backup]) { Position = 3 };
        using var directory = new TestDirectory();
        await BackupFile.RestoreAsync(memory, Path.Combine(directory, "new"), cancellationToken: TestContext.Current.CancellationToken);
        memory.CanRead.Should().BeTrue();
        using var restored = StorageEnvironment.Open(Path.Combine(directory, "new"));
        ContentOf(restored).Should().BeEquivalentTo(ContentOf(source));
    }

    [Fact]
    public async Task A_file_is_restored_to_a_directory_that_is_missing_or_empty()
    {
        var stop = TestContext.Current.CancellationToken;
        var source = MakeEnvironment();
        using var directory = new TestDirectory();
        var file = Path.Combine(directory, "full.vback");
        await System.IO.File.WriteAllBytesAsync(file, BackupBuilder.Full(EnvironmentImage.Read(source)).Build(), stop);
        var progress = new List<RestoreProgress>();
        var options = new RestoreOptions { Progress = new SynchronousProgress<RestoreProgress>(progress.Add) };
        foreach (var name in new[] { "missing/below", "empty" })
        {
            var target = Path.Combine(directory, name);
            if (name == "empty")
                Directory.CreateDirectory(target);
            var report = await BackupFile.RestoreAsync(file, target, options, stop);
            report.Verification!.IsSound.Should().BeTrue();
            using var restored = StorageEnvironment.Open(target, new StorageOptions { OpenMode = OpenMode.OpenExisting });
            ContentOf(restored).Should().BeEquivalentTo(ContentOf(source));
        }

        progress.Should().OnlyContain(step => step.BytesTotal == new FileInfo(file).Length);
        progress[^1].BytesDone.Should().Be(progress[^1].BytesTotal);
        (await BackupFile.VerifyAsync(file, stop)).Should().BeEquivalentTo(await BackupFile.ReadAsync(file, stop));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task The_description_is_that_of_header_and_trailer(bool isCompressed)
    {
        var stop = CancellationToken.None;
        var image = EnvironmentImage.Read(MakeEnvironment());
        var note = string.Concat(Enumerable.Repeat("weekly ", 200));
        var backup = BackupBuilder.Full(image, isCompressed: isCompressed).WithNote(note).Build();
        var info = await BackupFile.ReadAsync(File(backup), stop);
        info.Note.Should().Be(note);
        info.IsFull.Should().BeTrue();
        info.IsBase.Should().BeTrue();
        info.PageSize.Should().Be(4096);
        info.FormatVersion.Should().Be(2);
        info.Pages.Should().Be(image.UsedPages.Count);
        info.CopiedPages.Should().Be(image.UsedPages.Count);
        info.Bytes.Should().Be(backup.Length);
        info.TransactionId.Should().Be(image.Header.State.TransactionId);
        info.Time!.Value.UtcTicks.Should().Be(image.Header.State.CommitTime);
        info.FinishedAt.Should().BeAfter(info.BeganAt);
        (await BackupFile.ReadAsync(Pipe(backup), stop)).Should().Be(info);
        (await BackupFile.VerifyAsync(Pipe(backup), stop)).Should().Be(info);
    }

    [Fact]
    public async Task Any_disk_can_be_the_target()
    {
        var source = MakeEnvironment();
        var backup = BackupBuilder.Full(EnvironmentImage.Read(source)).Build();
        var expected = ContentOf(source);
        using var memory = new MemoryDisk();
        foreach (var target in new IDisk[]
        {
            memory, new SimulatedDisk { IsUnbuffered = false, MapsSeeUnbufferedWrites = false }, new SimulatedDisk { ExtendableMaps = false },
        })
        {
            (await Restore(target, backup)).Verification!.IsSound.Should().BeTrue();
            target.List().Should().HaveCount(2);
            ContentOf(target).Should().BeEquivalentTo(expected);
        }
    }

    [Fact]
    public async Task A_restore_without_verification_restores_what_the_backup_has()
    {
        var image = EnvironmentImage.Read(MakeEnvironment());
        var leaf = image.UsedPages.Last(page => image.HeaderOf(page) is { Kind: PageKind.Leaf } header && header.PageNumber == page);
        image.Page(leaf)[200] ^= 1;
        var target = new SimulatedDisk();
        var report = await Restore(
            target, new RestoreOptions { VerifyRestored = false }, CancellationToken.None, BackupBuilder.Full(image).Build());
        report.Verification.Should().BeNull();
        using var restored = StorageEnvironment.Open(target, FaultTestKit.Options());
        restored.Verify().Problems.Should().NotBeEmpty();
    }

    [Fact]
    public async Task A_later_copy_of_a_page_replaces_an_earlier_one()
    {
        var image = EnvironmentImage.Read(MakeEnvironment());
        var builder = BackupBuilder.Full(image, pagesPerFrame: 3);
        var first = builder.Frames.FindIndex(frame => frame.Kind == BackupFrameKind.Pages);

        // The first copies are of no use, and those at the end come in another order.
        var good = builder.Frames[first..^1].Select(frame => frame.Copy()).Reverse().ToList();
        foreach (var frame in builder.Frames[first..^1])
            frame.Raw.AsSpan((int)frame.Count * BackupExtent.Size).Reverse();
        builder.Frames.InsertRange(builder.Frames.Count - 1, good);
        var backup = builder.Build();
        await Verify(backup);
        var target = new SimulatedDisk();
        var report = await Restore(target, backup);
        report.Backup.CopiedPages.Should().Be(2 * report.Pages);
    }

    /// <summary>The engine believes that pages have blocks, except in long ranges of free pages of one section.</summary>
    [Fact]
    public async Task Short_ranges_of_free_pages_have_blocks()
    {
        var source = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(source, Options()))
        {
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                for (var i = 0; i < 200; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 20_000));
            });
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("t");
                for (var i = 0; i < 200; i++)
                {
                    if (i is > 50 and < 90 || i % 5 == 0)
                        tree.Delete(FaultTestKit.Key(i));
                }
            });
        }

        var image = EnvironmentImage.Read(source);
        var target = new SimulatedDisk();
        var allocated = new List<(long First, long End)>();
        target.FailNext(
            call =>
            {
                if (call is { Kind: DiskCallKind.Allocate, Name: DataFile.FileName })
                    allocated.Add((call.Offset / 4096, (call.Offset + call.Length) / 4096));
                return false;
            },
            DiskError.Failed,
            forever: true);
        await Restore(target, BackupBuilder.Full(image).Build());

        var used = image.UsedPages.ToHashSet();
        var (shortRanges, longRanges) = (0, 0);
        for (var page = 0L; page < image.Header.State.PageCount; page++)
        {
            var end = page;
            while (end < image.Header.State.PageCount && !used.Contains(end) && (end == page || end % 1024 != 0))
                end++;
            if (end == page)
                continue;
            var isShort = (end - page) * 4096 < 64 << 10;
            allocated.Any(range => range.First <= page && range.End >= end).Should().Be(isShort, $"{end - page} pages are free from {page} on");
            shortRanges += isShort ? 1 : 0;
            longRanges += isShort ? 0 : 1;
            page = end - 1;
        }

        shortRanges.Should().BeGreaterThan(10);
        longRanges.Should().BeGreaterThan(0);
        allocated.Count.Should().BeLessThanOrEqualTo(longRanges + 2, string.Create(CultureInfo.InvariantCulture, $"{shortRanges} ranges are short"));
    }

    private static void CheckHeader(SimulatedDisk target, EnvironmentImage image)
    {
        using var checkpoints = HeaderFile.Open(target);
        checkpoints.Current.State.TransactionId.Should().Be(image.Header.State.TransactionId);
        checkpoints.Current.EnvironmentId.Should().Be(image.Header.EnvironmentId);
        checkpoints.Current.Version.Should().Be(image.Header.Version);
        var lineage = checkpoints.Current.Lineage;
        if (image.Header.Version == JournalFormat.Version1)
        {
            lineage.Should().Be(default(Lineage));
            return;
        }

        lineage.Id.Should().NotBe(image.Header.Lineage.Id).And.NotBe(default(RandomId));
        lineage.Parent.Should().Be(image.Header.Lineage.Id);
        lineage.ForkTransactionId.Should().Be(image.Header.State.TransactionId);
    }
}
