using Voron.Backup;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Backup;

namespace Voron.Tests.Faults;

/// <summary>
/// Compactions to another directory, salvages and merges whose target has no room, at the beginning or later: the exception says so, nothing of
/// the target is left, the source is as it was, and the same call succeeds when there is room.
/// </summary>
public sealed class NoRoomTests : IDisposable
{
    private const long VolumeBytes = 48 << 20;

    private readonly TemporaryDirectory _place = new();

    private Dictionary<string, string> _content = [];

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    private string Source => Path.Combine(_place.Path, "source");

    public void Dispose() => _place.Dispose();

    [Fact]
    public async Task A_full_volume_ends_compactions_and_salvages_to_it()
    {
        using var volume = LoopVolume.TryMake(Path.Combine(_place.Path, "image"), Path.Combine(_place.Path, "volume"), out var reason, VolumeBytes);
        Assert.SkipWhen(volume == null, $"There is no volume of a chosen size: {reason}");
        MakeSource();
        var files = FaultTestKit.Bytes(Source);
        var target = Path.Combine(volume.Path, "new", "target");
        await Try(volume, target, async () => await Salvage.RunAsync(Source, target, null, Token));
        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(Source), files);

        using var source = StorageEnvironment.Open(Source, FaultTestKit.Options());
        await Try(volume, target, async () => await source.CompactToAsync(target, null, Token));
        source.Verify().Problems.Should().BeEmpty();
        BackupTestKit.ContentOf(source).Should().BeEquivalentTo(_content);
    }

    [Fact]
    public async Task A_full_volume_ends_merges_of_a_set_on_it()
    {
        using var volume = LoopVolume.TryMake(Path.Combine(_place.Path, "image"), Path.Combine(_place.Path, "volume"), out var reason, VolumeBytes);
        Assert.SkipWhen(volume == null, $"There is no volume of a chosen size: {reason}");
        MakeSource();
        var set = BackupSet.Open(Path.Combine(volume.Path, "set"));
        await FillSet(set);
        var files = FaultTestKit.Bytes(set.Directory);
        foreach (var room in new[] { 0, 4 << 10, 300 << 10 })
        {
            var filler = volume.Fill(room);
            var failure = await Assert.ThrowsAsync<StorageFullException>(async () => await set.MergeAsync(Token));
            failure.Message.Should().Contain(set.Directory).And.Contain(".vback");
            FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(set.Directory), files);
            File.Delete(filler);
        }

        await set.MergeAsync(Token);
        var target = Path.Combine(_place.Path, "restored");
        await set.RestoreAsync(target, null, null, Token);
        using var restored = StorageEnvironment.Open(target);
        BackupTestKit.ContentOf(restored).Should().BeEquivalentTo(_content);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Each_call_of_a_merge_may_find_no_room(bool compress)
    {
        MakeSource();
        var set = BackupSet.Open(Path.Combine(_place.Path, "set"));
        await FillSet(set);
        var chain = (await set.ListAsync(Token))[^1].Chain.Select(BackupSource.OfFile).ToList();
        for (var call = 0; ; call++)
        {
            var disk = new SimulatedDisk();
            var left = call;
            DiskCallKind? failed = null;
            disk.FailNext(
                found =>
                {
                    if (found.Kind is not (DiskCallKind.Create or DiskCallKind.Write or DiskCallKind.Rename or DiskCallKind.SyncDirectory))
                        return false;
                    if (left-- != 0)
                        return false;
                    failed = found.Kind;
                    return true;
                },
                DiskError.NoSpace);
            var merging = async () => await BackupMerging.RunAsync(chain, () => FileOutput.Create(disk, "merged.vback"), compress, Token);
            if (await Record.ExceptionAsync(merging) is { } failure)
            {
                failure.Should().BeOfType<StorageFullException>().Which.Message.Should().Contain("merged.vback");
                disk.List().Should().BeEmpty($"{failed} failed");
                (disk.OpenFiles, disk.HeldLocks).Should().Be((0, 0));
                continue;
            }

            failed.Should().BeNull("a call that failed must be noticed");
            call.Should().BeGreaterThan(3);
            (await BackupTestKit.Verify(disk.Contents("merged.vback"))).IsFull.Should().BeTrue();
            break;
        }
    }

    private static async Task Try(LoopVolume volume, string target, Func<Task> make)
    {
        var parent = Path.GetDirectoryName(target)!;
        foreach (var room in new[] { 0, 4 << 10, 8 << 10, 128 << 10, 1 << 20, 5 << 20 })
        {
            foreach (var exists in new[] { false, true })
            {
                if (exists)
                    Directory.CreateDirectory(target);
                var filler = volume.Fill(room);
                var failure = await Record.ExceptionAsync(make);
                TestContext.Current.TestOutputHelper?.WriteLine($"{room}, {exists}: {failure?.GetType().Name}: {failure?.Message}");
                failure.Should().BeOfType<StorageFullException>($"{room} bytes are not enough").Which.Message.Should().Contain(target);
                (Directory.Exists(target) ? Directory.GetFileSystemEntries(target) : []).Should().BeEmpty($"of {room} bytes");
                File.Delete(filler);
                if (Directory.Exists(parent))
                    Directory.Delete(parent, recursive: true);
            }
        }

        await make();
        using (var made = StorageEnvironment.Open(target, new StorageOptions { OpenMode = OpenMode.OpenExisting }))
            made.Verify().Problems.Should().BeEmpty();
        Directory.Delete(parent, recursive: true);
    }

    private void MakeSource()
    {
        using var environment = StorageEnvironment.Open(Source, FaultTestKit.Options());
        Put(environment, 0);
        _content = BackupTestKit.ContentOf(environment);
    }

    private async Task FillSet(BackupSet set)
    {
        using var environment = StorageEnvironment.Open(Source, FaultTestKit.Options());
        await set.BackupAsync(environment, BackupKind.Full, null, Token);
        Put(environment, 1);
        await set.BackupAsync(environment, BackupKind.Incremental, null, Token);
        _content = BackupTestKit.ContentOf(environment);
    }

    private static void Put(StorageEnvironment environment, int round) => environment.Write(writing =>
    {
        var tree = writing.CreateTree("t");
        for (var i = round * 200; i < round * 200 + 400; i++)
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(round + i, i % 20 == 0 ? 400_000 : 200));
    });
}
