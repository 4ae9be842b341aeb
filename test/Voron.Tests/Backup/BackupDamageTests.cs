using System.Runtime.InteropServices;
using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Simulation.Disks;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>Damaged and unfinished backups are found by every reading, and are never restored.</summary>
public sealed class BackupDamageTests
{
    private readonly SimulatedDisk _source = MakeEnvironment();

    [Fact]
    public async Task A_backup_that_was_cut_is_never_restored()
    {
        var builder = BackupBuilder.Full(EnvironmentImage.Read(_source), pagesPerFrame: 40, isCompressed: true).WithNote("n").WithIndex();
        var backup = builder.Build();
        var random = new Random(1);
        var cuts = builder.Built.Select(frame => frame.Offset)
            .Concat(builder.Built.Select(frame => frame.Offset + 30))
            .Concat(Enumerable.Range(0, 30).Select(_ => random.Next(backup.Length)))
            .Concat([0, 1, 7, 8, 4095, backup.Length - 1, backup.Length - 4096]);
        foreach (var cut in cuts)
        {
            var target = new SimulatedDisk();
            (await Fails(() => Verify(backup[..cut]))).Fault.Should().Be(BackupFault.Unfinished, $"it was cut at {cut}");
            (await Fails(() => Restore(target, backup[..cut]))).Fault.Should().Be(BackupFault.Unfinished, $"it was cut at {cut}");
            (await Fails(() => RestoreStream(target, backup[..cut]))).Fault.Should().Be(BackupFault.Unfinished, $"it was cut at {cut}");
            target.List().Should().BeEmpty();
            target.HeldLocks.Should().Be(0);
        }
    }

    [Fact]
    public async Task Every_bit_counts()
    {
        var builder = BackupBuilder.Full(EnvironmentImage.Read(_source), pagesPerFrame: 60, isCompressed: true).WithNote("note").WithIndex();
        var backup = builder.Build();
        var random = new Random(2);
        var places = Enumerable.Range(0, BackupHeader.Size).Where(at => at % SuiteShare.Step(3) == 0).Concat([BackupHeader.Size, 4095]).ToList();
        foreach (var frame in builder.Built)
        {
            var isWhole = frame.Kind == BackupFrameKind.Trailer;
            places.AddRange(Enumerable.Range(frame.Offset, BackupFrame.Size).Where(_ => isWhole || random.Next(4 * SuiteShare.Step(4)) == 0));
            places.AddRange(Enumerable.Range(0, 4).Select(_ => frame.Offset + random.Next(frame.Bytes)));
        }

        foreach (var place in places)
        {
            var bit = (byte)(1 << random.Next(8));
            backup[place] ^= bit;
            await Fails(() => Verify(backup), $"byte {place}");
            var target = new SimulatedDisk();
            await Fails(() => RestoreStream(target, backup), $"byte {place}");
            target.List().Should().BeEmpty();
            backup[place] ^= bit;
        }

        await Verify(backup);
    }

    [Fact]
    public async Task Frames_that_are_swapped_doubled_lost_or_foreign_are_found()
    {
        var image = EnvironmentImage.Read(_source);
        var (builder, other) = (BackupBuilder.Full(image, pagesPerFrame: 40), BackupBuilder.Full(image, pagesPerFrame: 40));
        var (backup, foreign) = (builder.Build(), other.Build());
        var frames = builder.Built;
        byte[] Frame(int i, byte[] from) => from[frames[i].Offset..(frames[i].Offset + frames[i].Bytes)];
        var end = frames[2].Offset + frames[2].Bytes;
        var changed = new Dictionary<string, byte[]>
        {
            ["swapped"] = [.. backup[..frames[1].Offset], .. Frame(2, backup), .. Frame(1, backup), .. backup[end..]],
            ["doubled"] = [.. backup[..end], .. Frame(2, backup), .. backup[end..]],
            ["lost"] = [.. backup[..frames[2].Offset], .. backup[end..]],
            ["foreign"] = [.. backup[..frames[2].Offset], .. Frame(2, foreign), .. backup[end..]],
            ["followed"] = [.. backup, 0],
            ["followed by another"] = [.. backup, .. foreign],
            ["of a foreign end"] = [.. backup[..^4096], .. foreign[^4096..]],
            ["of a foreign beginning"] = [.. foreign[..4096], .. backup[4096..]],
        };
        foreach (var (what, bytes) in changed)
        {
            (await Fails(() => Verify(bytes), what)).Fault.Should().Be(BackupFault.Damaged, what);
            var target = new SimulatedDisk();
            await Fails(() => Restore(target, bytes), what);
            await Fails(() => RestoreStream(target, bytes), what);
            target.List().Should().BeEmpty();
        }
    }

    // The checksums of such backups are right: their writer was wrong, or wanted to do harm.
    [Fact]
    public async Task Forged_values_are_found()
    {
        var image = EnvironmentImage.Read(_source);
        var pageCount = image.Header.State.PageCount;
        var forgeries = new Dictionary<string, Action<BackupBuilder>>
        {
            ["extent beyond"] = builder => Forge(builder, BackupFrameKind.Pages, 0, long.MaxValue),
            ["extent before"] = builder => Forge(builder, BackupFrameKind.Pages, 0, -1L),
            ["extent of none"] = builder => Forge(builder, BackupFrameKind.Pages, 8, 0),
            ["extent of many"] = builder => Forge(builder, BackupFrameKind.Pages, 8, int.MaxValue),
            ["extent of fewer"] = builder => Forge(builder, BackupFrameKind.Pages, 8, 1),
            ["extent spare"] = builder => Forge(builder, BackupFrameKind.Pages, 12, 1),
            ["state"] = builder => Forge(builder, BackupFrameKind.State, 8, 1L << 40),
            ["fewer pages"] = builder => Forge(builder, BackupFrameKind.State, 8, pageCount - 100),
            ["more pages"] = builder => Forge(builder, BackupFrameKind.State, 8, pageCount + 100),
            ["index entry"] = builder => Change(builder, frame => frame with { Link = frame.Kind == BackupFrameKind.Index ? 4096 : frame.Link }),
            ["note"] = builder => builder.Frames[0].Raw[0] = 0xFF,
            ["second note"] = builder => builder.Frames.Insert(3, builder.Frames[0]),
            ["no state"] = builder => builder.Frames.RemoveAll(frame => frame.Kind == BackupFrameKind.State),
            ["two states"] = builder => builder.Frames.Add(builder.Frames[^1]),
            ["pages behind the state"] = builder => builder.Frames.Add(builder.Frames[1]),
            ["missing pages"] = builder => builder.Frames.RemoveAt(1),
            ["kind"] = builder => Change(builder, frame => frame with { Kind = (BackupFrameKind)8 }),
            ["flags"] = builder => Change(builder, frame => frame with { Flags = frame.Flags | (BackupFrameFlags)4 }),
            ["compressed"] = builder => Change(builder, frame => frame with { Flags = BackupFrameFlags.Compressed }),
            ["raw bytes"] = builder => Change(builder, frame => frame with { RawBytes = int.MaxValue }),
            ["negative bytes"] = builder => Change(builder, frame => frame with { RawBytes = -1, StoredBytes = -1 }),
            ["stored bytes"] = builder => Change(builder, frame => frame with { StoredBytes = int.MaxValue }),
            ["count"] = builder => Change(builder, frame => frame with { Count = frame.Count + (frame.Kind == BackupFrameKind.Pages ? 1 : 0) }),
            ["huge count"] = builder => Change(builder, frame => frame with { Count = long.MinValue }),
            ["previous"] = builder => Change(builder, frame => frame with { Previous = frame.Previous + (frame.Sequence == 5 ? 1UL : 0) }),
            ["sequence"] = builder => Change(builder, frame => frame with { Sequence = frame.Sequence + (frame.Sequence > 4 ? 1 : 0) }),
            ["link"] = builder => Change(builder, frame => frame with { Link = frame.Kind == BackupFrameKind.State ? 1 : frame.Link }),
            ["bits"] = builder => Change(builder, frame => frame with { Link = frame.Kind == BackupFrameKind.UsedPages ? 64 : frame.Link }),
            ["id"] = builder => builder.Header.BackupId = default,
            ["page size"] = builder => builder.Header.PageSize = 5000,
            ["version"] = builder => builder.Header.Version = 0,
            ["parent"] = builder => builder.Header.ParentTransactionId = 5,
            ["trailer frames"] = builder => builder.ChangeTrailer = trailer => trailer with { Frames = trailer.Frames + 1 },
            ["trailer pages"] = builder => builder.ChangeTrailer = trailer => trailer with { CopiedPages = trailer.CopiedPages + 1 },
            ["trailer used"] = builder => builder.ChangeTrailer = trailer => trailer with { UsedPages = trailer.UsedPages - 1 },
            ["trailer bytes"] = builder => builder.ChangeTrailer = trailer => trailer with { Bytes = trailer.Bytes - 4096 },
            ["trailer id"] = builder => builder.ChangeTrailer = trailer => trailer with { TransactionId = trailer.TransactionId + 1 },
            ["trailer time"] = builder => builder.ChangeTrailer = trailer => trailer with { CommitTime = trailer.CommitTime + 1 },
            ["trailer end"] = builder => builder.ChangeTrailer = trailer => trailer with { FinishedAt = long.MaxValue },
            ["trailer index"] = builder => builder.ChangeTrailer = trailer => trailer with { IndexEntries = 0 },
            ["trailer flags"] = builder => builder.ChangeTrailer = trailer => trailer with { Flags = (BackupTrailerFlags)8 },
        };
        foreach (var (what, forge) in forgeries)
        {
            var builder = BackupBuilder.Full(image, pagesPerFrame: 60).WithNote("note").WithIndex();
            forge(builder);
            var backup = builder.Build();
            (await Fails(() => Verify(backup), what)).Fault.Should().Be(BackupFault.Damaged, what);
            var target = new SimulatedDisk();
            await Fails(() => Restore(target, backup), what);
            target.List().Should().BeEmpty(what);
        }
    }

    [Fact]
    public async Task What_is_newer_is_refused_as_such()
    {
        var image = EnvironmentImage.Read(_source);
        foreach (var change in new Action<BackupBuilder>[]
        {
            builder => builder.Header.Version = 2,
            builder => builder.Header.EnvironmentVersion = 3,
            builder => builder.Header.Features = (FormatFeatures)(1 << 30),
            builder => builder.Header.KeyId = RandomId.New(),
        })
        {
            var builder = BackupBuilder.Full(image);
            change(builder);
            var verify = () => Verify(builder.Build());
            await verify.Should().ThrowAsync<UnsupportedFormatException>();
        }
    }

    [Fact]
    public async Task The_description_of_a_damaged_backup_is_not_read()
    {
        var builder = BackupBuilder.Full(EnvironmentImage.Read(_source)).WithNote("note");
        var backup = builder.Build();
        var note = builder.Built[0].Bytes;
        foreach (var place in new[] { 0, 20, 151, 4000, 4096, 4100, 4096 + 24, 4096 + 44, 4096 + 48, 4096 + 52, 4096 + note - 1 }
            .Concat([backup.Length - 1, backup.Length - 4000, backup.Length - 4096]))
        {
            backup[place] ^= 2;
            await Fails(() => BackupFile.ReadAsync(File(backup), CancellationToken.None).AsTask(), $"byte {place}");
            backup[place] ^= 2;
        }

        // Damage between the two ends is found by the other members only.
        backup[backup.Length / 2] ^= 2;
        (await BackupFile.ReadAsync(File(backup), CancellationToken.None)).Note.Should().Be("note");
        await Fails(() => BackupFile.ReadAsync(Pipe(backup), CancellationToken.None).AsTask());
    }

    [Fact]
    public async Task Another_file_is_no_backup()
    {
        var failure = await Fails(() => Verify(_source.Contents("voron.header")));
        failure.Fault.Should().Be(BackupFault.Damaged);
        failure.Message.Should().Contain("is not a backup").And.Contain("566F726F6E486472");
    }

    /// <summary>Such a page was damaged before it was copied: its frame is as it was written.</summary>
    [Fact]
    public async Task A_damaged_page_in_a_sound_frame_is_found()
    {
        var image = EnvironmentImage.Read(_source);
        foreach (var kind in new[] { PageKind.Leaf, PageKind.Branch, PageKind.SectionMap, PageKind.Overflow })
        {
            foreach (var offset in new[] { 0, 33, 40, 100, image.PageSize - 1 })
            {
                var page = image.UsedPages.Last(page => image.HeaderOf(page) is var header && header.PageNumber == page && header.Kind == kind
                    && (kind == PageKind.Overflow) == (header.ExtentPages > 1));
                var at = kind == PageKind.Overflow && offset > 100 ? page + 1 : page;
                image.Page(at)[offset] ^= 0x40;
                foreach (var pagesPerFrame in new[] { 1, 60 })
                {
                    var backup = BackupBuilder.Full(image, pagesPerFrame).Build();
                    var failure = await Fails(() => Verify(backup), $"{kind}, byte {offset}");
                    failure.Fault.Should().Be(BackupFault.Damaged);
                    failure.Message.Should().Contain($"page {page} ");
                    var target = new SimulatedDisk();
                    (await Fails(() => Restore(target, backup), $"{kind}, byte {offset}")).Fault.Should().Be(BackupFault.Damaged);
                    target.List().Should().BeEmpty();
                }

                image.Page(at)[offset] ^= 0x40;
            }
        }

        await Verify(BackupBuilder.Full(image).Build());
    }

    [Fact]
    public async Task A_damaged_large_value_is_found_by_the_restore()
    {
        var image = EnvironmentImage.Read(_source);
        var page = image.UsedPages.Last(page => image.HeaderOf(page).PageNumber != page && image.HeaderOf(page - 1).PageNumber != page - 1);
        image.Page(page)[0] ^= 1;
        var backup = BackupBuilder.Full(image).Build();
        await Verify(backup);
        var target = new SimulatedDisk();
        (await Fails(() => Restore(target, backup))).Message.Should().Contain("is damaged, and is deleted");
        target.List().Should().BeEmpty();
    }

    [Fact]
    public async Task A_dead_file_is_a_failure_of_the_storage()
    {
        var disk = new SimulatedDisk();
        using (var file = disk.Open("a", DiskOpen.New, DiskAccess.Buffered))
            file.Write(0, BackupBuilder.Full(EnvironmentImage.Read(_source)).Build());
        disk.FailNext(call => call.Kind == DiskCallKind.Read && call.Offset > 0, DiskError.Failed, forever: true);
        var verify = () => BackupFile.VerifyAsync(BackupSource.OfFile(disk, "a"), CancellationToken.None).AsTask();
        await verify.Should().ThrowAsync<StorageAccessException>().WithMessage("*'simulated/a'*");
        var read = () => BackupFile.ReadAsync(Path.Combine(Path.GetTempPath(), "voron-test-missing", "a.vback")).AsTask();
        await read.Should().ThrowAsync<StorageAccessException>().WithMessage("*a.vback*");
        disk.OpenFiles.Should().Be(0);
    }

    [Fact]
    public async Task A_failure_of_the_users_stream_passes_through()
    {
        var backup = BackupBuilder.Full(EnvironmentImage.Read(_source)).Build();
        var target = new SimulatedDisk();
        var stream = new TrickleStream(backup) { FailsAt = 100_000 };
        var restore = () => BackupFile.RestoreAsync(
            BackupSource.OfStream(stream), target, new RestoreOptions(), CancellationToken.None).AsTask();
        await restore.Should().ThrowAsync<IOException>().WithMessage("the line is dead");
        target.List().Should().BeEmpty();
        stream.IsClosed.Should().BeFalse();
    }

    private static void Forge<T>(BackupBuilder builder, BackupFrameKind kind, int offset, T value)
        where T : struct => MemoryMarshal.Write(builder.Frames.First(frame => frame.Kind == kind).Raw.AsSpan(offset), in value);

    private static void Change(BackupBuilder builder, Func<BackupFrame, BackupFrame> change) => builder.ChangeFrame = change;

    private static async Task<BackupException> Fails(Func<Task> call, string because = "") =>
        (await call.Should().ThrowAsync<BackupException>(because)).Which;
}
