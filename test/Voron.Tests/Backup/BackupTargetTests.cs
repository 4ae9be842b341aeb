using System.IO.Pipelines;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>Where a backup goes: files, streams, pipes and directories, and what is left there when it fails.</summary>
public sealed class BackupTargetTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private static readonly BackupOptions Plain = new() { Compress = false };

    [Theory]
    [InlineData(true, 4096)]
    [InlineData(false, 4096)]
    [InlineData(true, 65536)]
    public async Task A_backup_to_a_file_restores_the_same_content(bool compress, int pageSize)
    {
        using var place = new TemporaryDirectory();
        using var source = StorageEnvironment.Open(MakeEnvironment(pageSize: pageSize), Options(pageSize: pageSize));
        var file = Path.Combine(place.Path, "a.vback");
        var report = await source.BackupAsync(file, new BackupOptions { Compress = compress, Note = "Grüße" }, Token);

        report.Bytes.Should().Be(new FileInfo(file).Length);
        report.IsBase.Should().BeTrue();
        report.HeldOneSnapshot.Should().BeFalse();
        report.TransactionId.Should().Be(source.GetStatistics().PublishedTransactionId);
        report.ParentId.Should().BeNull();
        Directory.GetFiles(place.Path).Should().Equal(file);
        var info = await BackupFile.VerifyAsync(file, Token);
        info.BackupId.Should().Be(report.BackupId);
        info.Note.Should().Be("Grüße");
        info.IsBase.Should().BeTrue();
        info.Time.Should().Be(report.Time);
        info.Pages.Should().Be(report.Pages);
        var restored = Path.Combine(place.Path, "restored");
        (await BackupFile.RestoreAsync(file, restored, null, Token)).Verification!.IsSound.Should().BeTrue();
        using var environment = StorageEnvironment.Open(restored);
        ContentOf(environment).Should().BeEquivalentTo(ContentOf(source));
    }

    [Fact]
    public async Task A_backup_to_a_stream_restores_the_same_content()
    {
        using var place = new TemporaryDirectory();
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        using var stream = new MemoryStream();
        var report = await source.BackupAsync(stream, null, Token);
        report.Bytes.Should().Be(stream.Length);
        stream.Position = 0;
        await BackupFile.RestoreAsync(stream, Path.Combine(place.Path, "restored"), null, Token);
        using var environment = StorageEnvironment.Open(Path.Combine(place.Path, "restored"));
        ContentOf(environment).Should().BeEquivalentTo(ContentOf(source));
    }

    [Fact]
    public async Task A_backup_to_a_pipe_restores_the_same_content()
    {
        using var place = new TemporaryDirectory();
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var pipe = new Pipe();
        var restoring = BackupFile.RestoreAsync(pipe.Reader.AsStream(), Path.Combine(place.Path, "restored"), null, Token).AsTask();
        await source.BackupAsync(pipe.Writer, null, Token);
        await pipe.Writer.CompleteAsync();
        await restoring;
        using var environment = StorageEnvironment.Open(Path.Combine(place.Path, "restored"));
        ContentOf(environment).Should().BeEquivalentTo(ContentOf(source));
    }

    [Fact]
    public async Task A_pipe_whose_reader_is_completed_ends_the_backup()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var pipe = new Pipe();
        await pipe.Reader.CompleteAsync();
        await Assert.ThrowsAsync<IOException>(async () => await source.BackupAsync(pipe.Writer, null, Token));
        (await source.BackupAsync(Stream.Null, null, Token)).Pages.Should().BePositive();
    }

    [Fact]
    public async Task A_stream_that_throws_ends_the_backup_with_its_exception()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        for (var writes = 0; writes < 6; writes++)
        {
            using var stream = new FailingStream(writes);
            var failure = await Assert.ThrowsAsync<TimeZoneNotFoundException>(async () => await source.BackupAsync(stream, null, Token));
            failure.Message.Should().Be("write");
        }

        (await source.BackupAsync(Stream.Null, null, Token)).HeldOneSnapshot.Should().BeFalse();
    }

    [Fact]
    public async Task A_backup_never_replaces_a_file()
    {
        using var place = new TemporaryDirectory();
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var file = Path.Combine(place.Path, "a.vback");
        await System.IO.File.WriteAllTextAsync(file, "mine", Token);
        Directory.CreateDirectory(Path.Combine(place.Path, "b.vback"));
        foreach (var taken in new[] { file, Path.Combine(place.Path, "b.vback") })
        {
            var failure = await Assert.ThrowsAsync<BackupException>(async () => await source.BackupAsync(taken, null, Token));
            failure.Fault.Should().Be(BackupFault.TargetNotEmpty);
            failure.Message.Should().Contain(taken);
        }

        (await System.IO.File.ReadAllTextAsync(file, Token)).Should().Be("mine");
        Directory.GetFileSystemEntries(place.Path).Should().HaveCount(2);
    }

    [Fact]
    public async Task A_file_that_appears_meanwhile_is_not_replaced()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var disk = new SimulatedDisk();
        var options = new BackupOptions { Progress = new Calling(() => Create(disk, "a.vback")) };
        var failure = await Assert.ThrowsAsync<BackupException>(async () => await source.BackupAsync(disk, "a.vback", options, Token));
        failure.Fault.Should().Be(BackupFault.TargetNotEmpty);
        disk.List().Should().ContainSingle().Which.Length.Should().Be(4096);
        disk.OpenFiles.Should().Be(0);
        disk.HeldLocks.Should().Be(0);
    }

    [Fact]
    public async Task What_a_killed_backup_has_left_is_deleted_by_the_next_one_of_its_name()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var disk = new SimulatedDisk();
        const string id = "0123456789ABCDEF0123456789ABCDEF";
        string[] others = [$"b.vback.{id}.partial", "a.vback.partial", $"a.vback.{id[1..]}g.partial", "other"];
        foreach (var name in others)
            Create(disk, name);
        Create(disk, $"a.vback.{id}.partial");
        await source.BackupAsync(disk, "a.vback", null, CancellationToken.None);
        disk.List().Select(entry => entry.Name).Should().BeEquivalentTo([.. others, "a.vback"]);
    }

    [Fact]
    public async Task A_backup_that_another_process_is_writing_stays()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var disk = new SimulatedDisk();
        const string other = "a.vback.0123456789ABCDEF0123456789ABCDEF.partial";
        Create(disk, other);
        using (disk.Lock(other, shared: false))
            await source.BackupAsync(disk, "a.vback", null, CancellationToken.None);
        disk.List().Select(entry => entry.Name).Should().BeEquivalentTo(other, "a.vback");
    }

    [Fact]
    public async Task A_disk_without_room_ends_the_backup_and_leaves_nothing()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        foreach (var options in new[] { Plain, new BackupOptions() })
        {
            var disk = new SimulatedDisk { SpaceLimit = 200 << 10 };
            var failure = await Assert.ThrowsAsync<StorageFullException>(async () => await source.BackupAsync(disk, "a.vback", options, Token));
            failure.Message.Should().Contain("a.vback");
            disk.List().Should().BeEmpty();
            disk.OpenFiles.Should().Be(0);
        }

        var directory = new SimulatedDisk { SpaceLimit = 200 << 10 };
        await Assert.ThrowsAsync<StorageFullException>(async () => await source.CopyToAsync(directory, null, CancellationToken.None));
        directory.List().Should().BeEmpty();
    }

    [Fact]
    public async Task Each_call_of_the_target_may_fail()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        for (var call = 0; ; call++)
        {
            var disk = new SimulatedDisk();
            var left = call;
            DiskCallKind? failed = null;
            disk.FailNext(Fails, DiskError.Failed);
            bool Fails(DiskCall found)
            {
                if (left-- != 0)
                    return false;
                failed = found.Kind;
                return true;
            }

            try
            {
                await source.BackupAsync(disk, "a.vback", Plain, CancellationToken.None);
                failed.Should().Match(kind => kind == null || kind == DiskCallKind.Delete);
            }
            catch (StorageAccessException e)
            {
                e.Message.Should().Contain("a.vback");
                disk.OpenFiles.Should().Be(0);
                disk.HeldLocks.Should().Be(0);
                disk.List().Should().BeEmpty($"call {call}, {failed}, failed");
            }

            if (failed == null)
                break;
        }
    }

    [Fact]
    public async Task An_unfinished_backup_that_cannot_be_deleted_stays_unfinished()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var disk = new SimulatedDisk();
        disk.FailNext(found => found.Kind is DiskCallKind.Sync or DiskCallKind.Delete, DiskError.Failed, forever: true);
        await Assert.ThrowsAsync<StorageAccessException>(async () => await source.BackupAsync(disk, "a.vback", Plain, CancellationToken.None));
        disk.List().Should().ContainSingle().Which.Name.Should().StartWith("a.vback.").And.EndWith(".partial");
        disk.ClearFaults();
        await source.BackupAsync(disk, "a.vback", Plain, CancellationToken.None);
        disk.List().Should().ContainSingle().Which.Name.Should().Be("a.vback");
    }

    // Between its creation and its lock, a file looks as if a killed process had left it.
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_backup_whose_new_file_another_one_deletes_takes_another_name(bool isDeletedBefore)
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var disk = new SimulatedDisk();
        var taken = "";
        disk.FailNext(
            found =>
            {
                if (found.Kind != DiskCallKind.Lock || taken.Length > 0)
                    return false;
                taken = found.Name;
                return true;
            },
            isDeletedBefore ? DiskError.NotFound : DiskError.Locked);
        await source.BackupAsync(disk, "a.vback", null, CancellationToken.None);
        taken.Should().EndWith(".partial");
        disk.List().Select(entry => entry.Name).Should().BeEquivalentTo("a.vback", taken);
        disk.Delete("a.vback");
        await source.BackupAsync(disk, "a.vback", null, CancellationToken.None);
        disk.List().Should().ContainSingle().Which.Name.Should().Be("a.vback");
    }

    [Fact]
    public async Task A_missing_directory_is_named()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var missing = Path.Combine(Path.GetTempPath(), Guid.NewGuid().ToString("N"));
        var file = Path.Combine(missing, "a.vback");
        var failure = await Assert.ThrowsAsync<StorageAccessException>(async () => await source.BackupAsync(file, null, Token));
        failure.Message.Should().Contain(missing);
    }

    [Theory]
    [InlineData(2)]
    [InlineData(1)]
    public async Task A_copy_can_be_opened_at_once(int formatVersion)
    {
        using var place = new TemporaryDirectory();
        using var source = StorageEnvironment.Open(MakeEnvironment(formatVersion), Options(formatVersion));
        var target = Path.Combine(place.Path, "copy");
        var report = await source.CopyToAsync(target, null, Token);
        report.BackupId.Should().BeEmpty();
        report.IsBase.Should().BeFalse();
        using (var copy = StorageEnvironment.Open(target))
        {
            ContentOf(copy).Should().BeEquivalentTo(ContentOf(source));
            copy.Verify().Problems.Should().BeEmpty();
            var (one, other) = (copy.Internals.Engine.Format, source.Internals.Engine.Format);
            one.Version.Should().Be(other.Version);
            if (formatVersion > 1)
            {
                one.Lineage.Id.Should().NotBe(other.Lineage.Id);
                one.Lineage.Parent.Should().Be(other.Lineage.Id);
                one.Lineage.ForkTransactionId.Should().Be(report.TransactionId);
            }

            copy.Write(writing => writing.CreateTree("t").Put(FaultTestKit.Key(900), FaultTestKit.Value(900, 50_000)));
        }

        var failure = await Assert.ThrowsAsync<BackupException>(async () => await source.CopyToAsync(target, null, Token));
        failure.Fault.Should().Be(BackupFault.TargetNotEmpty);
        using var again = StorageEnvironment.Open(target);
        again.Verify().Problems.Should().BeEmpty();
    }

    private static void Create(SimulatedDisk disk, string name)
    {
        using var file = disk.Open(name, DiskOpen.New, DiskAccess.Buffered);
        file.Write(0, new byte[4096]);
    }

    /// <summary>A stream that throws at one of its writes.</summary>
    private sealed class FailingStream(int writes) : MemoryStream
    {
        public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default) =>
            writes-- == 0 ? throw new TimeZoneNotFoundException("write") : ValueTask.CompletedTask;

        public override Task FlushAsync(CancellationToken cancellationToken) => throw new TimeZoneNotFoundException("write");
    }

    /// <summary>Calls the first time that progress is reported.</summary>
    private sealed class Calling(Action call) : IProgress<BackupProgress>
    {
        private Action? _call = call;

        public void Report(BackupProgress value) => Interlocked.Exchange(ref _call, null)?.Invoke();
    }
}
