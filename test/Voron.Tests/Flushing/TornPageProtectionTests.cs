using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>
/// Garbage in pages that a flush was overwriting is repaired from images, and refused with checksums only. A disk without room for the data
/// file stops the flush when all its records are in the journal; then the files are copied and damaged.
/// </summary>
[Quick]
public sealed class TornPageProtectionTests
{
    private const string DataFile = "voron.data";
    private const int PageSize = 4096;

    [Fact]
    public void Garbage_in_all_pages_of_a_flush_is_repaired_from_images()
    {
        var disk = Prepare(TornPageProtection.FullPageImages, out var environment, out var expected);
        var stopped = StopFlush(disk, environment);
        var pages = Overwritten(disk, environment, stopped);
        pages.Count.Should().BeGreaterThan(10);
        environment.Dispose();
        Spoil(stopped, pages);

        using (var readOnly = StorageEnvironment.Open(FaultTestKit.DiskOf(stopped), new StorageOptions { ReadOnly = true }))
            Check(readOnly, expected);
        var found = FaultTestKit.DiskOf(stopped);
        using (var opened = StorageEnvironment.Open(found, Options(TornPageProtection.Checksums)))
        {
            Check(opened, expected);
            opened.Flush().Should().NotBeNull();
            Check(opened, expected);
        }

        using var again = StorageEnvironment.Open(found, Options(TornPageProtection.Checksums));
        Check(again, expected);
    }

    [Fact]
    public void With_checksums_only_each_torn_page_is_refused_or_rebuilt()
    {
        var disk = Prepare(TornPageProtection.Checksums, out var environment, out var expected);
        var stopped = StopFlush(disk, environment);
        var pages = Overwritten(disk, environment, stopped);
        environment.Dispose();
        int refused = 0, made = 0;
        foreach (var page in pages)
        {
            var spoilt = new SortedDictionary<string, byte[]>(stopped, StringComparer.Ordinal) { [DataFile] = [.. stopped[DataFile]] };
            Spoil(spoilt, [page]);
            try
            {
                using var opened = StorageEnvironment.Open(FaultTestKit.DiskOf(spoilt), Options(TornPageProtection.Checksums));
                Check(opened, expected);
                made++;
            }
            catch (CorruptionException e)
            {
                e.Message.Should().Contain($"Page {page} of").And.Contain("is damaged");
                refused++;
            }
        }

        refused.Should().BeGreaterThan(5, "the page existed before, and the journal has its changes");
        made.Should().BeGreaterThan(5, "the page is new, and the journal has all of it");
    }

    [Fact]
    public void Commits_after_a_stopped_flush_are_replayed_over_the_images()
    {
        var disk = Prepare(TornPageProtection.FullPageImages, out var environment, out var expected);
        StopFlush(disk, environment);
        Change(environment, expected, seed: 3);
        using (var writing = environment.BeginWrite())
        {
            // Frees pages that have an image, and reuses them for something else.
            writing.DeleteTree("gone").Should().BeTrue();
            writing.CreateTree("new").Put("key"u8, FaultTestKit.Value(5, 40_000));
            writing.Commit();
        }

        expected.Remove("gone");
        expected["new"] = new() { ["key"] = FaultTestKit.Value(5, 40_000) };
        var later = FaultTestKit.Bytes(disk);
        var pages = Overwritten(disk, environment, later);
        environment.Dispose();
        Spoil(later, pages);
        using var opened = StorageEnvironment.Open(FaultTestKit.DiskOf(later), Options(TornPageProtection.FullPageImages));
        Check(opened, expected);
    }

    [Fact]
    public void A_second_flush_stopped_after_the_recovery_of_a_first_is_repaired_from_the_images_of_both()
    {
        var disk = Prepare(TornPageProtection.FullPageImages, out var environment, out var expected);
        var stopped = StopFlush(disk, environment);
        var pages = Overwritten(disk, environment, stopped);
        environment.Dispose();
        Spoil(stopped, pages);

        var second = FaultTestKit.DiskOf(stopped);
        var reopened = StorageEnvironment.Open(second, Options(TornPageProtection.FullPageImages));
        Change(reopened, expected, seed: 4);
        var stoppedAgain = StopFlush(second, reopened);
        var pagesAgain = Overwritten(second, reopened, stoppedAgain);
        reopened.Dispose();
        pagesAgain.Intersect(pages).Count().Should().BeGreaterThan(5);
        Spoil(stoppedAgain, pagesAgain);
        using var opened = StorageEnvironment.Open(FaultTestKit.DiskOf(stoppedAgain), Options(TornPageProtection.Checksums));
        Check(opened, expected);
    }

    [Fact]
    public void A_flush_after_a_journal_snapshot_is_repaired_from_both()
    {
        var disk = Prepare(TornPageProtection.FullPageImages, out var environment, out var expected);
        using (environment.BeginRead())
        {
            Change(environment, expected, seed: 6);
            environment.Flush();
            Change(environment, expected, seed: 7);
            environment.Internals.WriteJournalSnapshot().Should().BeTrue("a reader holds the flusher back");
        }

        Change(environment, expected, seed: 8);
        var stopped = StopFlush(disk, environment);
        stopped.Keys.Should().Contain(name => name.StartsWith("rewrite-", StringComparison.Ordinal));
        var pages = Overwritten(disk, environment, stopped);
        environment.Dispose();
        Spoil(stopped, pages);
        using var opened = StorageEnvironment.Open(FaultTestKit.DiskOf(stopped), Options(TornPageProtection.FullPageImages));
        Check(opened, expected);
    }

    [Fact]
    public void A_paused_flush_continues_with_the_images_it_wrote()
    {
        var disk = Prepare(TornPageProtection.FullPageImages, out var environment, out var expected);
        using (environment)
        {
            StopFlush(disk, environment);
            var writes = environment.GetStatistics().JournalWrites;
            environment.Flush().Should().NotBeNull();
            environment.GetStatistics().JournalWrites.Should().Be(writes);
            Check(environment, expected);
        }
    }

    /// <summary>Commits and the images of flushes find room in the existing files for as long as there is work.</summary>
    [Fact]
    public void A_disk_that_has_no_room_for_another_journal_file_still_has_room_for_the_images()
    {
        const int Keys = 900;
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options(TornPageProtection.FullPageImages)))
        {
            for (var i = 0; i < Keys; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 1500));
            environment.Flush();
            disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace, forever: true);
            var before = environment.GetStatistics();
            for (var i = 0; i < 3 * Keys; i++)
                FaultTestKit.Put(environment, i % Keys, FaultTestKit.Value(i + Keys, 1500));

            // No other thread flushes: the commits that found no room did.
            var after = environment.GetStatistics();
            (after.Flushes - before.Flushes).Should().BeGreaterThan(3);
            after.CheckpointTransactionId.Should().BeGreaterThan(before.PublishedTransactionId + Keys);
            environment.Verify().Problems.Should().BeEmpty();
        }

        using var opened = StorageEnvironment.Open(FaultTestKit.DiskOf(FaultTestKit.Bytes(disk)), Options(TornPageProtection.FullPageImages));
        using var reading = opened.BeginRead();
        for (var i = 0; i < Keys; i++)
        {
            reading.OpenTree(FaultTestKit.TreeName).TryGet(FaultTestKit.Key(i), out var found).Should().BeTrue();
            found.SequenceEqual(FaultTestKit.Value(i + 3 * Keys, 1500)).Should().BeTrue();
        }
    }

    [Fact]
    public void The_flusher_starts_when_the_images_are_as_large_as_the_threshold()
    {
        using var flushed = new ManualResetEventSlim();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            TornPageProtection = TornPageProtection.FullPageImages,
            FlushThresholdBytes = 1 << 20,
            FlushInterval = TimeSpan.FromDays(1),
            JournalCompression = JournalCompression.Never,
            FlushObserver = _ => flushed.Set(),
        });
        PutAll(1500);
        environment.Flush();
        flushed.Reset();
        var before = environment.GetStatistics().JournalBytes;

        // Changes a byte or so of each page.
        PutAll(1499);
        (environment.GetStatistics().JournalBytes - before).Should().BeLessThan(800 << 10, "the changes alone are below the threshold");
        flushed.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();

        void PutAll(int length)
        {
            using var writing = environment.BeginWrite();
            for (var i = 0; i < 1000; i++)
                writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), new byte[length]);
            writing.Commit();
        }
    }

    private static StorageOptions Options(TornPageProtection form) => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
        TornPageProtection = form,
    };

    /// <summary>
    /// Prepares an environment with pages in the data file, and with changes to them, new pages,
    /// extents and large values that are not flushed.
    /// </summary>
    private static SimulatedDisk Prepare(
        TornPageProtection form, out StorageEnvironment environment, out SortedDictionary<string, SortedDictionary<string, byte[]>> expected)
    {
        var disk = new SimulatedDisk();
        expected = new(StringComparer.Ordinal);
        environment = StorageEnvironment.Open(disk, Options(form));
        Change(environment, expected, seed: 1);
        environment.Flush().Should().NotBeNull();
        Change(environment, expected, seed: 2);
        return disk;
    }

    private static void Change(StorageEnvironment environment, SortedDictionary<string, SortedDictionary<string, byte[]>> expected, int seed)
    {
        var random = new Random(seed);
        foreach (var name in new[] { "kept", "gone" })
        {
            if (!expected.TryGetValue(name, out var entries))
                expected[name] = entries = new(StringComparer.Ordinal);
            for (var commit = 0; commit < 3; commit++)
            {
                using var writing = environment.BeginWrite();
                var tree = writing.CreateTree(name);
                for (var i = 0; i < 60; i++)
                {
                    var length = i switch { 0 => 12_000, 1 => 70_000, _ => random.Next(300) };
                    var key = i < 2 ? $"{i}" : $"key{random.Next(200):D3}";
                    entries[key] = FaultTestKit.Value(random.Next(), length);
                    tree.Put(System.Text.Encoding.ASCII.GetBytes(key), entries[key]);
                }

                writing.Commit();
            }
        }
    }

    /// <summary>Makes a flush stop before its first page, and returns the files of that moment.</summary>
    private static SortedDictionary<string, byte[]> StopFlush(SimulatedDisk disk, StorageEnvironment environment)
    {
        disk.FailNext(call => call.Kind == DiskCallKind.Write && call.Name == DataFile, DiskError.NoSpace);
        environment.Invoking(stopped => stopped.Flush()).Should().Throw<StorageFullException>().WithMessage("*paused*");
        return FaultTestKit.Bytes(disk);
    }

    /// <summary>Lets the flush continue, and returns the pages that it has changed.</summary>
    private static List<int> Overwritten(SimulatedDisk disk, StorageEnvironment environment, SortedDictionary<string, byte[]> before)
    {
        var old = before[DataFile];
        environment.Flush().Should().NotBeNull();
        var now = disk.Contents(DataFile);
        return Enumerable.Range(0, old.Length / PageSize)
            .Where(page => !old.AsSpan(page * PageSize, PageSize).SequenceEqual(now.AsSpan(page * PageSize, PageSize)))
            .ToList();
    }

    private static void Spoil(SortedDictionary<string, byte[]> files, List<int> pages)
    {
        var random = new Random(9);
        foreach (var page in pages)
            random.NextBytes(files[DataFile].AsSpan(page * PageSize, PageSize));
    }

    private static void Check(StorageEnvironment environment, SortedDictionary<string, SortedDictionary<string, byte[]>> expected)
    {
        using (var reading = environment.BeginRead())
        {
            reading.GetTreeNames().Should().Equal(expected.Keys);
            foreach (var (name, entries) in expected)
            {
                var tree = reading.OpenTree(name);
                tree.Count.Should().Be(entries.Count);
                foreach (var (key, value) in entries)
                {
                    tree.TryGet(System.Text.Encoding.ASCII.GetBytes(key), out var found).Should().BeTrue();
                    found.SequenceEqual(value).Should().BeTrue($"{name}/{key} is as it was committed");
                }
            }
        }

        environment.Verify().Problems.Should().BeEmpty();
    }
}
