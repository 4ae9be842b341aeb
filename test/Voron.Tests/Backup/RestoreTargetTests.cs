using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>A restore is complete or leaves nothing behind, whatever the directory, the disk or the caller does.</summary>
public sealed class RestoreTargetTests
{
    private const string Marker = HeaderFile.UnfinishedCopyName;

    private readonly SimulatedDisk _source = MakeEnvironment();
    private readonly EnvironmentImage _image;
    private readonly byte[] _backup;

    public RestoreTargetTests()
    {
        _image = EnvironmentImage.Read(_source);
        _backup = BackupBuilder.Full(_image, pagesPerFrame: 200).Build();
    }

    [Theory]
    [InlineData("voron.data")]
    [InlineData("voron.backup.partial")]
    [InlineData("notes.txt")]
    public async Task A_directory_with_a_file_is_refused(string name)
    {
        var target = new SimulatedDisk();
        target.Open(name, DiskOpen.New, DiskAccess.Buffered).Dispose();
        var restore = () => Restore(target, _backup);
        var failure = (await restore.Should().ThrowAsync<BackupException>()).Which;
        failure.Fault.Should().Be(BackupFault.TargetNotEmpty);
        failure.Message.Should().Contain(name);
        target.List().Should().ContainSingle().Which.Name.Should().Be(name);
    }

    [Fact]
    public async Task A_directory_with_a_directory_is_refused()
    {
        using var directory = new TestDirectory();
        Directory.CreateDirectory(Path.Combine(directory, "inner"));
        using var stream = new MemoryStream(_backup);
        var restore = () => BackupFile.RestoreAsync(stream, directory).AsTask();
        (await restore.Should().ThrowAsync<BackupException>().WithMessage("*'inner'*")).Which.Fault.Should().Be(BackupFault.TargetNotEmpty);
        var toFile = () => BackupFile.RestoreAsync(stream, typeof(RestoreTargetTests).Assembly.Location).AsTask();
        await toFile.Should().ThrowAsync<StorageAccessException>();
    }

    [Fact]
    public async Task Too_little_room_is_found_before_anything_is_written()
    {
        var target = new SimulatedDisk { SpaceLimit = 100_000 };
        var restore = () => Restore(target, _backup);
        await restore.Should().ThrowAsync<StorageFullException>()
            .WithMessage($"*{_image.UsedPages.Count * 4096 + 8192} bytes are needed, and 100000 are available*");
        target.List().Should().BeEmpty();

        var restoreStream = () => RestoreStream(target, _backup);
        await restoreStream.Should().ThrowAsync<StorageFullException>("the size of a stream is not known before");
        target.List().Should().BeEmpty();
    }

    [Fact]
    public async Task A_cancelled_restore_leaves_nothing()
    {
        var target = new SimulatedDisk();
        using var stop = new CancellationTokenSource();
        var options = new RestoreOptions { Progress = new SynchronousProgress<RestoreProgress>(_ => stop.Cancel()) };
        var restore = () => Restore(target, options, stop.Token, _backup);
        await restore.Should().ThrowAsync<OperationCanceledException>();
        target.List().Should().BeEmpty();
        target.HeldLocks.Should().Be(0);
        target.OpenFiles.Should().Be(0);
    }

    [Fact]
    public async Task A_restore_is_cancelled_while_it_verifies()
    {
        var target = new SimulatedDisk();
        using var stop = new CancellationTokenSource();
        target.FailNext(
            call =>
            {
                if (call is { Kind: DiskCallKind.Read, Name: DataFile.FileName } && !stop.IsCancellationRequested)
                    stop.Cancel();
                return false;
            },
            DiskError.Failed,
            forever: true);
        var restore = () => Restore(target, new RestoreOptions(), stop.Token, _backup);
        await restore.Should().ThrowAsync<OperationCanceledException>();
        target.List().Should().BeEmpty();
        target.HeldLocks.Should().Be(0);
        target.OpenFiles.Should().Be(0);
        target.LiveMaps.Should().Be(0);
    }

    /// <summary>Each call of the restore fails once: nothing stays but, where even deleting fails, a directory that is refused.</summary>
    [Theory]
    [InlineData("Failed")]
    [InlineData("NoSpace")]
    public async Task A_failure_of_the_disk_leaves_nothing(string error)
    {
        for (var call = 0; ; call += SuiteShare.Step(3))
        {
            var target = new SimulatedDisk();
            var left = call;
            target.FailNext(found => left-- == 0, Enum.Parse<DiskError>(error));
            try
            {
                await Restore(target, _backup);
            }
            catch (Exception e) when (e is StorageAccessException or StorageFullException or BackupException)
            {
                target.ClearFaults();
                target.List().Should().BeEmpty($"call {call} failed: {e.Message}");
                target.HeldLocks.Should().Be(0);
                target.OpenFiles.Should().Be(0);
                continue;
            }

            target.ClearFaults();
            target.LastFault.Should().BeNull($"call {call} failed, and the restore did not");
            ContentOf(target).Should().BeEquivalentTo(ContentOf(_source));
            break;
        }
    }

    /// <summary>A kill or a power cut at each point leaves nothing, an unfinished copy, or the environment.</summary>
    [Fact]
    public async Task A_crash_leaves_nothing_an_unfinished_copy_or_the_environment()
    {
        var target = new SimulatedDisk();
        await Restore(target, new RestoreOptions { VerifyRestored = false }, CancellationToken.None, _backup);
        var expected = ContentOf(_source);
        var images = new CrashImages(target);
        var (empty, unfinished, whole) = (0, 0, 0);
        for (var cut = 0; cut <= target.TraceCount; cut++)
        {
            SimulatedDisk[] left = [images.BuildKilled(cut), images.BuildLost(cut), images.BuildKept(cut)];
            foreach (var image in left.Concat(Enumerable.Range(0, 8).Select(i => images.Build(cut, new Random(cut * 8 + i)))))
            {
                var names = image.List().Select(entry => entry.Name).ToList();
                if (names.Contains(HeaderFile.FileName))
                {
                    whole++;
                    ContentOf(image).Should().BeEquivalentTo(expected, $"the header has its name after {cut} calls");
                }
                else if (names.Contains(Marker))
                {
                    unfinished++;
                    var open = () => StorageEnvironment.Open(image, FaultTestKit.Options());
                    open.Should().Throw<CorruptionException>().WithMessage($"*{Marker}*not finished*");
                }
                else
                {
                    names.Should().BeEmpty();
                    empty++;
                }
            }
        }

        empty.Should().BePositive();
        unfinished.Should().BePositive();
        whole.Should().BePositive();
    }

    [Fact]
    public void Every_opening_refuses_an_unfinished_copy()
    {
        using var directory = new TestDirectory();
        using (var disk = FileSystemDisk.Open(directory, readOnly: false, Microsoft.Extensions.Logging.Abstractions.NullLogger.Instance))
        using (EnvironmentCopy.Begin(disk, 4096))
        {
            var files = Directory.GetFiles(directory);
            foreach (var options in new StorageOptions[]
            {
                new(), new() { ReadOnly = true }, new() { OpenMode = OpenMode.OpenExisting }, new() { OpenMode = OpenMode.CreateNew },
            })
            {
                var open = () => StorageEnvironment.Open(directory, options);
                open.Should().Throw<CorruptionException>().WithMessage(
                    $"'{directory.Path}' contains '{Marker}'*a copy or a restore into this directory was not finished*Nothing was changed. Delete the content*");
            }

            StorageEnvironment.Exists(directory).Should().BeFalse();
            Directory.GetFiles(directory).Should().Equal(files);
        }

        Directory.GetFiles(directory).Should().BeEmpty("an unfinished copy deletes its files");
        using var opened = StorageEnvironment.Open(directory);
    }

    [Fact]
    public void A_creation_and_a_copy_that_begin_together_do_not_both_succeed()
    {
        var target = new SimulatedDisk();
        var isCreated = false;
        target.FailNext(
            call =>
            {
                if (call.Kind == DiskCallKind.Lock && call.Name == Marker && !isCreated)
                {
                    isCreated = true;
                    target.Open("voron.header.creating", DiskOpen.New, DiskAccess.WriteThrough).Dispose();
                }

                return false;
            },
            DiskError.Failed,
            forever: true);
        var begin = () => EnvironmentCopy.Begin(target, 4096);
        begin.Should().Throw<BackupException>().WithMessage("*'voron.header.creating'*").Which.Fault.Should().Be(BackupFault.TargetNotEmpty);
        target.List().Should().ContainSingle();

        target = new SimulatedDisk();
        EnvironmentCopy? copy = null;
        target.FailNext(
            call =>
            {
                if (call is { Kind: DiskCallKind.Create, Name: "voron.header.creating" })
                    copy ??= EnvironmentCopy.Begin(target, 4096);
                return false;
            },
            DiskError.Failed,
            forever: true);
        var open = () => StorageEnvironment.Open(target, FaultTestKit.Options());
        open.Should().Throw<CorruptionException>().WithMessage("*was not finished*");
        target.List().Select(entry => entry.Name).Should().BeEquivalentTo(Marker, DataFile.FileName);
        copy!.Dispose();
    }

    [Fact]
    public async Task Backups_that_do_not_build_on_each_other_are_refused_before_anything_is_restored()
    {
        var full = BackupBuilder.Full(_image);
        var fullBytes = full.Build();
        BackupTestKit.Change(_source, 1000, keys: [1, 2], deleted: [4]);
        var image = EnvironmentImage.Read(_source);
        byte[] Incremental(Action<BackupBuilder> change)
        {
            var builder = BackupBuilder.Incremental(image, full);
            change(builder);
            return builder.Build();
        }

        var good = Incremental(_ => { });
        await Refused(BackupFault.WrongParent, good);
        await Refused(BackupFault.WrongParent, fullBytes, fullBytes);
        await Refused(BackupFault.WrongParent, fullBytes, good, good);
        await Refused(BackupFault.WrongParent, good, fullBytes);
        await Refused(BackupFault.WrongParent, fullBytes, Incremental(builder => builder.Header.ParentId = RandomId.New()));
        await Refused(BackupFault.WrongParent, fullBytes, Incremental(builder => builder.Header.ParentTransactionId--));
        await Refused(BackupFault.WrongEnvironment, fullBytes, Incremental(builder => builder.Header.EnvironmentId = RandomId.New()));
        await Refused(BackupFault.WrongEnvironment, fullBytes, Incremental(builder => builder.Header.PageSize = 8192));
        await Refused(BackupFault.WrongLineage, fullBytes, Incremental(builder => builder.Header.Lineage = new Lineage { Id = RandomId.New() }));
        await Refused(BackupFault.Unfinished, fullBytes, good[..^4096]);

        var stream = () => RestoreStream(new SimulatedDisk(), good);
        (await stream.Should().ThrowAsync<BackupException>()).Which.Fault.Should().Be(BackupFault.WrongParent);
        await Restore(new SimulatedDisk(), fullBytes, good);
    }

    [Fact]
    public async Task Arguments_are_checked()
    {
        var options = new RestoreOptions { FileMode = UnixFileMode.UserRead };
        await Throws<ArgumentException>(() => BackupFile.RestoreAsync("a", "b", options).AsTask());
        await Throws<ArgumentException>(() => BackupFile.RestoreAsync(Array.Empty<string>(), "b").AsTask());
        await Throws<ArgumentException>(() => BackupFile.RestoreAsync("a", "").AsTask());
        await Throws<ArgumentException>(() => BackupFile.ReadAsync("").AsTask());
        var closed = new MemoryStream();
        await closed.DisposeAsync();
        await Throws<ArgumentException>(() => BackupFile.VerifyAsync(closed).AsTask());
    }

    private static async Task Refused(BackupFault fault, params byte[][] backups)
    {
        var target = new SimulatedDisk();
        var restore = () => Restore(target, backups);
        (await restore.Should().ThrowAsync<BackupException>()).Which.Fault.Should().Be(fault);
        target.List().Should().BeEmpty();
        target.Count(TraceKind.Create).Should().Be(0, "nothing is restored");
    }

    private static async Task Throws<T>(Func<Task> call)
        where T : Exception => await call.Should().ThrowAsync<T>();
}
