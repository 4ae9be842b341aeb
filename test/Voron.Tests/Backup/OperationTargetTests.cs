using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>Targets that fail, vanish or may not be written, for copies, merges, compactions and salvages; and backups around compactions.</summary>
public sealed class OperationTargetTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData("Failed")]
    [InlineData("NoSpace")]
    public async Task A_failure_of_the_disk_leaves_no_copy(string error)
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        for (var call = 0; ; call++)
        {
            var target = new SimulatedDisk();
            var left = call;
            target.FailNext(_ => left-- == 0, Enum.Parse<DiskError>(error));
            try
            {
                await source.CopyToAsync(target, null, Token);
            }
            catch (Exception e) when (e is StorageAccessException or StorageFullException or BackupException)
            {
                target.ClearFaults();
                target.List().Should().BeEmpty($"call {call} failed: {e.Message}");
                (target.HeldLocks, target.OpenFiles).Should().Be((0, 0));
                continue;
            }

            target.ClearFaults();
            target.LastFault.Should().BeNull($"call {call} failed, and the copy did not");
            ContentOf(target).Should().BeEquivalentTo(ContentOf(source));
            call.Should().BeGreaterThan(10);
            break;
        }
    }

    [Fact]
    public async Task A_copy_that_is_cancelled_fails_or_is_closed_leaves_nothing()
    {
        for (var report = 1; report < 4; report++)
        {
            foreach (var way in new[] { "cancel", "throw", "close" })
            {
                using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
                using var stop = new CancellationTokenSource();
                var left = report;
                var options = new CopyOptions
                {
                    Progress = new SynchronousProgress<BackupProgress>(_ =>
                    {
                        if (--left != 0)
                            return;
                        if (way == "cancel")
                            stop.Cancel();
                        else if (way == "close")
                            source.Dispose();
                        else
                            throw new FormatException("of the caller");
                    }),
                };
                var target = new SimulatedDisk();
                var failure = await Record.ExceptionAsync(async () => await source.CopyToAsync(target, options, stop.Token));
                if (left > 0)
                    break;
                failure.Should().BeAssignableTo(way switch
                {
                    "cancel" => typeof(OperationCanceledException),
                    "close" => typeof(ObjectDisposedException),
                    _ => typeof(FormatException),
                });
                target.List().Should().BeEmpty();
                (target.HeldLocks, target.OpenFiles).Should().Be((0, 0));
            }
        }
    }

    [Fact]
    public async Task A_target_that_may_not_be_written_is_named()
    {
        var disk = MakeEnvironment();
        byte[] backup;
        using var source = StorageEnvironment.Open(disk, Options());
        var made = new SimulatedDisk();
        await source.BackupAsync(made, "a.vback", null, Token);
        backup = made.Contents("a.vback");
        foreach (var call in new Func<SimulatedDisk, Task>[]
        {
            async target => await source.BackupAsync(target, "b.vback", null, Token),
            async target => await source.CopyToAsync(target, null, Token),
            async target => await Restore(target, backup),
        })
        {
            var target = new SimulatedDisk();
            target.FailNext(
                found => found.Kind is DiskCallKind.Create or DiskCallKind.Write or DiskCallKind.Rename, DiskError.AccessDenied, forever: true);
            var failure = await Record.ExceptionAsync(() => call(target));
            failure.Should().BeOfType<StorageAccessException>().Which.Message.Should().Contain(target.Path);
            target.List().Should().BeEmpty();
        }
    }

    [Fact]
    public async Task A_target_directory_that_vanishes_ends_the_operation()
    {
        using var place = new TemporaryDirectory();
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        var original = Path.Combine(place.Path, "original");
        await source.CopyToAsync(original, null, Token);
        var target = Path.Combine(place.Path, "place", "target");
        var parent = Path.Combine(place.Path, "place");
        void Vanish()
        {
            if (Directory.Exists(parent))
                Directory.Delete(parent, recursive: true);
        }

        foreach (var call in new Func<Task>[]
        {
            async () => await source.BackupAsync(
                target, new BackupOptions { Progress = new SynchronousProgress<BackupProgress>(_ => Vanish()) }, Token),
            async () => await source.CopyToAsync(
                target, new CopyOptions { Progress = new SynchronousProgress<BackupProgress>(_ => Vanish()) }, Token),
            async () => await source.CompactToAsync(
                target, new CompactionOptions { Progress = new SynchronousProgress<CompactionProgress>(_ => Vanish()) }, Token),
            async () => await Salvage.RunAsync(
                original, target, new SalvageOptions { Progress = new SynchronousProgress<SalvageProgress>(_ => Vanish()) }, Token),
        })
        {
            Directory.CreateDirectory(parent);
            var failure = await Record.ExceptionAsync(call);
            failure.Should().BeAssignableTo<VoronException>().Which.Message.Should().Contain(target);
            Directory.Exists(target).Should().BeFalse();
            source.Write(writing => writing.CreateTree("t").Put("after"u8, "x"u8));
        }
    }

    [Fact]
    public async Task A_machine_that_was_rolled_back_does_not_know_the_bases_of_its_lost_future()
    {
        var disk = MakeEnvironment();
        var (first, second, third) = (new SimulatedDisk(), new SimulatedDisk(), new SimulatedDisk());
        BackupReport full, changes;
        using (var environment = StorageEnvironment.Open(disk, Options()))
            full = await environment.BackupAsync(first, "a.vback", null, Token);
        var snapshot = FaultTestKit.DiskOf(FaultTestKit.Bytes(disk));
        Change(disk, seed: 900, keys: [1, 2, 3], deleted: [4]);
        using (var environment = StorageEnvironment.Open(disk, Options()))
            changes = await environment.BackupAsync(second, "a.vback", new BackupOptions { Since = full.BackupId }, Token);

        // The snapshot continues otherwise, with the same transaction ids.
        Change(snapshot, seed: 1_700, keys: [5, 6], deleted: [8]);
        using (var environment = StorageEnvironment.Open(snapshot, Options()))
        {
            var unknown = await Assert.ThrowsAsync<BackupException>(
                async () => await environment.BackupAsync(Stream.Null, new BackupOptions { Since = changes.BackupId }, Token));
            unknown.Fault.Should().Be(BackupFault.UnknownBase);
            await environment.BackupAsync(third, "a.vback", new BackupOptions { Since = full.BackupId }, Token);
        }

        var target = new SimulatedDisk();
        await Restore(target, first.Contents("a.vback"), third.Contents("a.vback"));
        ContentOf(target).Should().BeEquivalentTo(ContentOf(snapshot));
        var mixed = await Assert.ThrowsAsync<BackupException>(
            () => Restore(new SimulatedDisk(), first.Contents("a.vback"), second.Contents("a.vback"), third.Contents("a.vback")));
        mixed.Fault.Should().Be(BackupFault.WrongParent);
    }

    [Fact]
    public async Task A_damaged_backup_cannot_be_merged()
    {
        using var place = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        var (full, changes, merged) = (Path.Combine(place.Path, "full"), Path.Combine(place.Path, "changes"), Path.Combine(place.Path, "merged"));
        var report = await environment.BackupAsync(full, null, Token);
        environment.Write(writing => writing.CreateTree("t").Put(FaultTestKit.Key(5), FaultTestKit.Value(5, 90_000)));
        await environment.BackupAsync(changes, new BackupOptions { Since = report.BackupId }, Token);
        foreach (var file in new[] { full, changes })
        {
            var bytes = await System.IO.File.ReadAllBytesAsync(file, Token);
            bytes[bytes.Length / 2] ^= 1;
            await System.IO.File.WriteAllBytesAsync(file, bytes, Token);
            var failure = await Assert.ThrowsAsync<BackupException>(
                async () => await BackupFile.MergeAsync([full, changes], merged, compress: true, Token));
            failure.Fault.Should().Be(BackupFault.Damaged);
            failure.Message.Should().Contain(file);
            Directory.GetFiles(place.Path).Should().BeEquivalentTo(full, changes);
            bytes[bytes.Length / 2] ^= 1;
            await System.IO.File.WriteAllBytesAsync(file, bytes, Token);
        }

        await BackupFile.MergeAsync([full, changes], merged, compress: true, Token);
        await BackupFile.VerifyAsync(merged, Token);
    }

    [Fact]
    public async Task Backups_are_right_across_compactions_and_beside_them()
    {
        using var place = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(Path.Combine(place.Path, "environment"));
        for (var from = 0; from < 20_000; from += 1_000)
            Put(environment, from, 1_000);
        var files = new List<string> { Path.Combine(place.Path, "0") };
        var last = await environment.BackupAsync(files[0], null, Token);
        for (var round = 1; round <= 3; round++)
        {
            var kept = round;
            environment.Write(writing =>
            {
                var tree = writing.OpenTree("t");
                for (var i = 0; i < 20_000; i++)
                {
                    if (i % 4 != kept)
                        tree.Delete(FaultTestKit.Key(i));
                }
            });

            // Beside the compaction: both finish, whichever is faster.
            var compacting = Task.Run(async () => await environment.CompactAsync(null, Token), Token);
            files.Add(Path.Combine(place.Path, $"{round}"));
            last = await environment.BackupAsync(files[^1], new BackupOptions { Since = last.BackupId }, Token);
            (await compacting).BytesMoved.Should().BePositive();

            // Across it.
            files.Add(Path.Combine(place.Path, $"{round}-after"));
            last = await environment.BackupAsync(files[^1], new BackupOptions { Since = last.BackupId }, Token);
            var restored = Path.Combine(place.Path, $"restored-{round}");
            await BackupFile.RestoreAsync(files, restored, null, Token);
            using (var copy = StorageEnvironment.Open(restored))
            {
                var content = ContentOf(copy);
                content.Should().HaveCount(5_000);
                content.Except(ContentOf(environment)).Should().BeEmpty();
            }

            for (var from = 0; from < 20_000; from += 1_000)
                Put(environment, from, 1_000);
        }
    }

    [Fact]
    public async Task A_restore_from_a_stream_that_stops_for_ever_can_be_cancelled()
    {
        using var source = StorageEnvironment.Open(MakeEnvironment(), Options());
        using var backup = new MemoryStream();
        await source.BackupAsync(backup, null, Token);
        for (var bytes = 0; bytes < backup.Length; bytes += (int)backup.Length / 5)
        {
            using var place = new TemporaryDirectory();
            using var stop = new CancellationTokenSource();
            using var stream = new StoppingStream(backup.ToArray(), bytes, stop.Cancel);
            var target = Path.Combine(place.Path, "target");
            var failure = await Record.ExceptionAsync(async () => await BackupFile.RestoreAsync(stream, target, null, stop.Token));
            failure.Should().BeAssignableTo<OperationCanceledException>();
            (!Directory.Exists(target) || Directory.GetFileSystemEntries(target).Length == 0).Should().BeTrue();
        }
    }

    [Fact]
    public async Task An_environment_in_memory_is_compacted_and_copied()
    {
        using var place = new TemporaryDirectory();
        using var environment = StorageEnvironment.OpenInMemory();
        for (var from = 0; from < 20_000; from += 1_000)
            Put(environment, from, 1_000);
        environment.Write(writing =>
        {
            var tree = writing.OpenTree("t");
            for (var i = 0; i < 20_000; i++)
            {
                if (i % 3 != 0)
                    tree.Delete(FaultTestKit.Key(i));
            }
        });
        var content = ContentOf(environment);
        var report = await environment.CompactAsync(null, Token);
        report.BytesAfter.Should().BeLessThan(report.BytesBefore);
        await environment.CopyToAsync(Path.Combine(place.Path, "copy"), null, Token);
        await environment.CompactToAsync(Path.Combine(place.Path, "dense"), null, Token);
        foreach (var name in new[] { "copy", "dense" })
        {
            using var copy = StorageEnvironment.Open(Path.Combine(place.Path, name));
            copy.Verify().Problems.Should().BeEmpty();
            var found = ContentOf(copy);
            found.Should().HaveCount(content.Count);
            found.Except(content).Should().BeEmpty();
        }

        environment.Verify().Problems.Should().BeEmpty();
        ContentOf(environment).Except(content).Should().BeEmpty();
    }

    private static void Put(StorageEnvironment environment, int from, int count) => environment.Write(writing =>
    {
        var tree = writing.CreateTree("t");
        for (var i = from; i < from + count; i++)
            tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, i % 500 == 0 ? 100_000 : 100 + i % 300));
    });

    /// <summary>A stream that never returns from a read behind some bytes, unless the read is cancelled.</summary>
    private sealed class StoppingStream(byte[] bytes, int stopsAfter, Action stopped) : MemoryStream(bytes)
    {
        public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
        {
            if (Position < stopsAfter)
                return Read(buffer.Span[..(int)Math.Min(buffer.Length, stopsAfter - Position)]);
            stopped();
            await Task.Delay(Timeout.Infinite, cancellationToken);
            return 0;
        }
    }
}
