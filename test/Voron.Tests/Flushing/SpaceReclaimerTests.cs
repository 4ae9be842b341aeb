using System.Buffers.Binary;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;

namespace Voron.Tests.Flushing;

public sealed class SpaceReclaimerTests
{
    private static readonly StorageOptions Manual = new() { BackgroundFlush = false, LargeValueBytes = 16384, JournaledValueBytes = 0 };

    [Fact]
    public void Free_sections_at_the_end_are_cut_off_and_the_rest_is_punched()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "sees space returned at once, for which Wine has neither cuts nor holes");
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, Manual);
        Fill(environment, "a", 200, 100_000);
        Fill(environment, "kept", 1, 10);
        Fill(environment, "b", 200, 100_000);
        environment.Flush();
        var full = environment.GetStatistics().DataFileBytes;
        full.Should().BeGreaterThan(40_000_000);

        Delete(environment, "b");
        Delete(environment, "a");
        environment.Flush();
        var reclaimed = environment.ReclaimSpace();

        reclaimed.Should().BeGreaterThan(30_000_000);
        // The small tree is behind the first large one, in the sixth section.
        environment.GetStatistics().DataFileBytes.Should().BeInRange(5 * 4_194_304, 6 * 4_194_304);
        environment.Verify().Problems.Should().BeEmpty();

        // The released space is used again, and everything is present after a reopening.
        Fill(environment, "c", 300, 100_000);
        environment.Verify().Problems.Should().BeEmpty();
        environment.Dispose();
        using var reopened = StorageEnvironment.Open(directory, Manual);
        reopened.Verify().Problems.Should().BeEmpty();
        using var reading = reopened.BeginRead();
        reading.OpenTree("c").Count.Should().Be(300);
        reading.OpenTree("kept").Count.Should().Be(1);
    }

    [Fact]
    public void The_reclaimer_keeps_pages_that_a_reader_sees()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "sees space returned at once, for which Wine has neither cuts nor holes");
        using var directory = new TestDirectory();
        using var environment = StorageEnvironment.Open(directory, Manual);
        Fill(environment, "a", 100, 100_000);
        environment.Flush();
        using (var reading = environment.BeginRead())
        {
            Delete(environment, "a");
            environment.ReclaimSpace().Should().Be(0);
            var tree = reading.OpenTree("a");
            for (var i = 0; i < 100; i++)
            {
                tree.TryGet(Key(i), out var value).Should().BeTrue();
                value.SequenceEqual(Value(i, 100_000)).Should().BeTrue();
            }
        }

        environment.ReclaimSpace().Should().BeGreaterThan(4_000_000);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Versions_beyond_the_memory_limit_go_to_a_temporary_file()
    {
        using var directory = new TestDirectory();
        var options = new StorageOptions { BackgroundFlush = false, ScratchMemoryBytes = 4 << 20, ScratchLimitBytes = 1 << 30 };
        using var environment = StorageEnvironment.Open(directory, options);
        using (environment.BeginRead())
        {
            Fill(environment, "a", 20_000, 1_500);
            environment.GetStatistics().SpilledBytes.Should().BeGreaterThan(20_000_000);
        }

        environment.Verify().Problems.Should().BeEmpty();
        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
        environment.GetStatistics().ScratchBytes.Should().Be(0);
        Directory.GetFiles(directory).Should().NotContain(name => name.EndsWith(".tmp"));
    }

    [Fact]
    public void Free_ranges_between_pages_in_use_are_released_and_refilled()
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions { BackgroundFlush = false };
        using var environment = StorageEnvironment.Open(disk, options);
        var random = new Random(17);
        var keys = Enumerable.Range(0, 60_000).OrderBy(_ => random.Next()).ToArray();
        FillScattered(environment, keys);
        environment.Flush();
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.OpenTree("a");
            foreach (var key in keys.Take(54_000))
                tree.Delete(Key(key)).Should().BeTrue();
            writing.Commit();
        }

        environment.Flush();
        var before = disk.UsedBytes;
        var reclaimed = environment.ReclaimSpace();
        reclaimed.Should().BeGreaterThan(environment.GetStatistics().PageCount * 4096 / 8);
        (before - disk.UsedBytes).Should().BeGreaterThanOrEqualTo(reclaimed * 9 / 10, "the disk has it back");
        environment.ReclaimSpace().Should().Be(0, "nothing is returned twice");
        environment.Verify().Problems.Should().BeEmpty();

        // All pages that are used again have blocks when they are committed, so flushing them needs no room.
        FillScattered(environment, keys.Take(30_000));
        disk.SpaceLimit = disk.UsedBytes + (1 << 20);
        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Released_ranges_that_were_used_and_freed_are_released_again()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Manual);
        Fill(environment, "kept", 1, 10);
        for (var round = 0; round < 3; round++)
        {
            Fill(environment, "a", 100, 100_000);
            Fill(environment, "last", 1, 10);
            environment.Flush();
            Delete(environment, "a");
            environment.Flush();
            environment.ReclaimSpace().Should().BeGreaterThan(8_000_000, $"round {round}");
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Ranges_punched_before_a_reopening_have_blocks_before_they_are_used()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Manual))
        {
            Fill(environment, "a", 100, 100_000);
            Fill(environment, "b", 100, 100_000);
            environment.Flush();
            using (var writing = environment.BeginWrite())
            {
                var tree = writing.OpenTree("a");
                for (var i = 0; i < 100; i += 2)
                    tree.Delete(Key(i)).Should().BeTrue();
                writing.Commit();
            }

            environment.Flush();
            environment.ReclaimSpace().Should().BeGreaterThan(4_000_000);
        }

        using (var environment = StorageEnvironment.Open(disk, Manual))
        {
            for (var i = 0; i < 6; i++)
                Fill(environment, "small" + i, 500, 1000);
            disk.SpaceLimit = disk.UsedBytes + (1 << 20);
            environment.Flush();
            environment.Verify().Problems.Should().BeEmpty();
            disk.SpaceLimit = long.MaxValue;
        }
    }

    [Fact]
    public void A_reclaimed_file_does_not_grow_again_before_it_has_to()
    {
        using var flushed = new AutoResetEvent(false);
        var options = new StorageOptions { FlushInterval = TimeSpan.FromMilliseconds(1), FlushObserver = _ => flushed.Set() };
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), options);
        Fill(environment, "kept", 2, 10);
        Fill(environment, "a", 200, 100_000);
        Delete(environment, "a");
        environment.Flush();
        environment.ReclaimSpace().Should().BeGreaterThan(15_000_000);
        var reclaimed = environment.GetStatistics().DataFileBytes;
        reclaimed.Should().BeLessThan(2_000_000);

        // The background thread checks after each of these commits, and nothing needs a longer file.
        for (var i = 0; i < 20; i++)
        {
            flushed.Reset();
            Fill(environment, "kept", 2, 10 + i);
            flushed.WaitOne(TestWait.Limit).Should().BeTrue();
        }

        environment.Flush();
        environment.GetStatistics().DataFileBytes.Should().Be(reclaimed);
        environment.Internals.Engine.DataFile.File.Length.Should().Be(reclaimed);
    }

    private static void FillScattered(StorageEnvironment environment, IEnumerable<int> keys)
    {
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("a");
        foreach (var key in keys)
            tree.Put(Key(key), Value(key, 200));
        writing.Commit();
    }

    private static void Fill(StorageEnvironment environment, string name, int count, int length)
    {
        for (var from = 0; from < count; from += 50)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(name);
            for (var i = from; i < Math.Min(count, from + 50); i++)
                tree.Put(Key(i), Value(i, length));
            writing.Commit();
        }
    }

    private static void Delete(StorageEnvironment environment, string name)
    {
        using var writing = environment.BeginWrite();
        writing.DeleteTree(name).Should().BeTrue();
        writing.Commit();
    }

    private static byte[] Key(int i)
    {
        var key = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(key, i);
        return key;
    }

    private static byte[] Value(int i, int length) => SeededBytes.Make(i, length);
}
