using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Backup.BackupTestKit;

namespace Voron.Tests.Backup;

/// <summary>What a backup is made of: environments of all kinds, damaged ones, and values that look like pages.</summary>
public sealed class BackupSourceTests
{
    private static CancellationToken Token => TestContext.Current.CancellationToken;

    [Theory]
    [InlineData(1, true)]
    [InlineData(2, false)]
    public async Task Without_a_change_log_one_snapshot_is_held(int formatVersion, bool tracksChanges)
    {
        var options = new StorageOptions(Options(formatVersion)) { TrackChanges = tracksChanges };
        using var environment = StorageEnvironment.Open(MakeEnvironment(formatVersion), options);
        var (report, content) = await RoundTrip(environment);
        report.HeldOneSnapshot.Should().BeTrue();
        report.IsBase.Should().BeFalse();
        content.Should().BeEquivalentTo(ContentOf(environment));
        environment.Internals.Engine.ChangedPages!.IsOn.Should().BeFalse();
        await ShouldBeUnknown(environment, report.BackupId);
    }

    [Fact]
    public async Task A_log_that_is_not_wanted_any_more_ends()
    {
        var disk = MakeEnvironment();
        Guid id;
        using (var environment = StorageEnvironment.Open(disk, Options()))
            id = (await environment.BackupAsync(Stream.Null, null, Token)).BackupId;
        using (var environment = StorageEnvironment.Open(disk, new StorageOptions(Options()) { TrackChanges = false }))
        {
            environment.Write(writing => writing.CreateTree("t").Put(FaultTestKit.Key(1), FaultTestKit.Value(1, 50_000)));
            environment.Flush();
        }

        using (var environment = StorageEnvironment.Open(disk, Options()))
        {
            environment.Internals.Engine.ChangedPages!.IsOn.Should().BeFalse();
            await ShouldBeUnknown(environment, id);
            (await environment.BackupAsync(Stream.Null, new BackupOptions { Since = id, FallBackToFull = true }, Token)).ParentId.Should().BeNull();
        }
    }

    [Fact]
    public async Task An_environment_that_is_open_for_reading_is_backed_up()
    {
        var disk = MakeEnvironment();
        var expected = ContentOf(disk);
        using var environment = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true });
        var (report, content) = await RoundTrip(environment);
        report.IsBase.Should().BeFalse();
        content.Should().BeEquivalentTo(expected);
    }

    [Fact]
    public async Task An_environment_in_memory_is_backed_up()
    {
        using var environment = StorageEnvironment.OpenInMemory(new InMemoryOptions());
        environment.Write(writing =>
        {
            var tree = writing.CreateTree("t");
            for (var i = 0; i < 300; i++)
                tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, i % 50 == 0 ? 60_000 : 300));
        });
        var (_, content) = await RoundTrip(environment);
        content.Should().BeEquivalentTo(ContentOf(environment));
    }

    [Fact]
    public async Task A_new_environment_is_backed_up()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        var (report, content) = await RoundTrip(environment);
        report.TransactionId.Should().Be(0);
        content.Should().BeEmpty();
    }

    [Fact]
    public async Task A_poisoned_environment_is_backed_up()
    {
        var disk = MakeEnvironment();
        using var environment = StorageEnvironment.Open(disk, Options());
        environment.Write(writing => writing.CreateTree("t").Put("before"u8, "b"u8));
        disk.FailNext(
            call => call.Kind == DiskCallKind.Write && call.Name.StartsWith("journal", StringComparison.Ordinal), DiskError.Failed, forever: true);
        var write = () => environment.Write(writing => writing.CreateTree("t").Put("a"u8, "b"u8));
        write.Should().Throw<EnvironmentPoisonedException>();
        var (report, content) = await RoundTrip(environment);
        report.IsBase.Should().BeFalse();
        content.Should().BeEquivalentTo(ContentOf(environment));
    }

    [Fact]
    public async Task Only_what_has_changed_is_copied_again()
    {
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        var full = await environment.BackupAsync(Stream.Null, null, Token);
        environment.Write(writing => writing.CreateTree("t").Put(FaultTestKit.Key(1), FaultTestKit.Value(7, 100)));
        using var changes = new MemoryStream();
        var report = await environment.BackupAsync(changes, new BackupOptions { Since = full.BackupId }, Token);
        report.ParentId.Should().Be(full.BackupId);
        report.Pages.Should().Be(full.Pages);
        report.Bytes.Should().BeLessThan(full.Bytes / 4);
        changes.Position = 0;
        (await BackupFile.ReadAsync(changes, Token)).CopiedPages.Should().BeLessThan(12);
    }

    [Fact]
    public async Task A_restored_environment_does_not_know_the_backups_of_the_original()
    {
        using var place = new TemporaryDirectory();
        using var environment = StorageEnvironment.Open(MakeEnvironment(), Options());
        var file = Path.Combine(place.Path, "a.vback");
        var full = await environment.BackupAsync(file, null, Token);
        await BackupFile.RestoreAsync(file, Path.Combine(place.Path, "restored"), null, Token);
        using var restored = StorageEnvironment.Open(Path.Combine(place.Path, "restored"));
        await ShouldBeUnknown(restored, full.BackupId);
    }

    [Fact]
    public async Task Each_damaged_page_ends_the_backup()
    {
        var disk = MakeEnvironment();
        int found = 0, values = 0;
        var length = disk.Contents(DataFile.FileName).Length / 4096;
        for (var page = 0; page < length; page += page < 60 ? 1 : 7)
        {
            var files = FaultTestKit.Bytes(disk);
            files[DataFile.FileName][page * 4096 + 2000] ^= 4;
            using var damaged = FaultTestKit.DiskOf(files);
            using var environment = StorageEnvironment.Open(damaged, Options());
            var target = new SimulatedDisk();
            try
            {
                await environment.BackupAsync(target, "a.vback", null, CancellationToken.None);
            }
            catch (CorruptionException e)
            {
                e.Message.Should().Contain("age ");
                target.List().Should().BeEmpty();
                found++;
                continue;
            }

            // The page is free, or belongs to a large value.
            var isRefused = await IsRestoreRefused(target);
            (await IsFoundByVerifying(environment)).Should().Be(isRefused);
            values += isRefused ? 1 : 0;
        }

        found.Should().BeGreaterThan(15);
        values.Should().BeGreaterThan(10);
    }

    [Fact]
    public async Task Damage_that_comes_after_a_page_was_checked_is_named()
    {
        using var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        environment.Write(writing =>
        {
            for (var tree = 0; tree < 3; tree++)
                writing.CreateTree($"t{tree}").Put("a"u8, FaultTestKit.Value(tree, 9_000));
        });
        environment.Flush();
        (await IsFoundByVerifying(environment)).Should().BeFalse();
        using var file = disk.Open(DataFile.FileName, DiskOpen.Existing, DiskAccess.Buffered);
        var contents = disk.Contents(DataFile.FileName);
        var refused = 0;
        for (var page = 2; page < contents.Length / 4096; page++)
        {
            var header = MemoryMarshal.Read<PageHeader>(contents.AsSpan(page * 4096));
            if (header.PageNumber != page || header.Kind != PageKind.Leaf)
                continue;
            for (var at = 64; at < 4096; at += 13 * SuiteShare.Step(4))
            {
                var place = page * 4096L + at;
                file.Write(place, [(byte)(contents[place] ^ 1)]);
                var making = async () => await environment.BackupAsync(Stream.Null, null, Token);
                (await making.Should().ThrowAsync<CorruptionException>()).Which.Message.Should().MatchRegex($@"\b(page|Page) ([\d, -]+, )?{page}\b");
                file.Write(place, [contents[place]]);
                refused++;
            }
        }

        refused.Should().BeGreaterThan(4 * 300 / SuiteShare.Step(4));
    }

    [Theory]
    [InlineData(2)]
    [InlineData(40)]
    [InlineData(300)]
    [InlineData(2_000)]
    public async Task Values_that_look_like_extents_are_copied_as_they_are(int claimedPages)
    {
        // The same steps lead to the same place.
        var place = PlaceOfValue(MakeValue(first: 1, claimedPages));
        place.Should().BePositive();
        var value = MakeValue(place, claimedPages);
        PlaceOfValue(value).Should().Be(place);
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), Options());
        PutValue(environment, value);
        environment.Flush();
        foreach (var batch in new[] { 4096, 64 << 10, 1 << 20 })
        {
            var (_, content) = await RoundTrip(environment, new BackupOptions { BatchBytes = batch });
            content.Should().BeEquivalentTo(ContentOf(environment));
        }
    }

    [Fact]
    public async Task A_value_of_many_pages_comes_from_memory_and_from_the_file()
    {
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), new StorageOptions(Options()) { LargeValueBytes = 1 << 30 });
        environment.Write(writing => writing.CreateTree("t").Put("a"u8, FaultTestKit.Value(1, 3_000_000)));
        foreach (var flushes in new[] { false, true })
        {
            if (flushes)
                environment.Flush();
            foreach (var batch in new[] { 4096, 64 << 10, 1 << 20 })
            {
                var (_, content) = await RoundTrip(environment, new BackupOptions { BatchBytes = batch });
                content.Should().BeEquivalentTo(ContentOf(environment));
            }
        }
    }

    private static async Task<(BackupReport Report, Dictionary<string, string> Content)> RoundTrip(
        StorageEnvironment environment, BackupOptions? options = null)
    {
        using var stream = new MemoryStream();
        var report = await environment.BackupAsync(stream, options, Token);
        stream.Position = 0;
        await BackupFile.VerifyAsync(stream, Token);
        var target = new SimulatedDisk();
        await Restore(target, stream.ToArray());
        return (report, ContentOf(target));
    }

    private static async Task ShouldBeUnknown(StorageEnvironment environment, Guid backupId)
    {
        var options = new BackupOptions { Since = backupId };
        var failure = await Assert.ThrowsAsync<BackupException>(async () => await environment.BackupAsync(Stream.Null, options, Token));
        failure.Fault.Should().Be(BackupFault.UnknownBase);
        failure.Message.Should().Contain(backupId.ToString());
    }

    private static async Task<bool> IsRestoreRefused(SimulatedDisk backups)
    {
        try
        {
            await Restore(new SimulatedDisk(), backups.Contents("a.vback"));
            return false;
        }
        catch (BackupException e) when (e.Fault == BackupFault.Damaged)
        {
            return true;
        }
    }

    private static async Task<bool> IsFoundByVerifying(StorageEnvironment environment)
    {
        try
        {
            await environment.BackupAsync(Stream.Null, new BackupOptions { VerifyValues = true }, Token);
            return false;
        }
        catch (CorruptionException)
        {
            return true;
        }
    }

    // A value of 8 MiB, each page of which looks like the first one of an extent.
    private static unsafe byte[] MakeValue(long first, int claimedPages)
    {
        var value = FaultTestKit.Value(5, 8 << 20);
        for (var page = 0; page < value.Length / 4096; page++)
        {
            fixed (byte* bytes = &value[page * 4096])
            {
                *(PageHeader*)bytes = new PageHeader
                {
                    PageNumber = first + page,
                    Kind = PageKind.Overflow,
                    ExtentPages = (uint)claimedPages,
                    ExtentBytes = claimedPages * 4096L - PageHeader.Size,
                };
            }
        }

        return value;
    }

    private static long PlaceOfValue(byte[] value)
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options()))
            PutValue(environment, value);
        var page = value.AsSpan(1000, 3000);
        var bytes = disk.Contents(DataFile.FileName);
        for (var at = 0; at + 4096 <= bytes.Length; at += 4096)
        {
            if (bytes.AsSpan(at + 1000, 3000).SequenceEqual(page))
                return at / 4096;
        }

        return -1;
    }

    // Pages of other trees are before the value and behind it.
    private static void PutValue(StorageEnvironment environment, byte[] value)
    {
        environment.Write(writing => writing.CreateTree("a").Put(FaultTestKit.Key(1), FaultTestKit.Value(1, 100)));
        environment.Write(writing => writing.CreateTree("values").Put("value"u8, value));
        for (var i = 0; i < 20; i++)
        {
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("b");
                for (var key = 0; key < 50; key++)
                    tree.Put(FaultTestKit.Key(i * 50 + key), FaultTestKit.Value(key, key == 7 ? 9_000 : 900));
            });
        }
    }
}
