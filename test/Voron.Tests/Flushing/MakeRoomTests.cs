using System.Buffers.Binary;
using Voron.IO;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>
/// A commit that finds no room for its record flushes and, if that was not enough, returns free pages.
/// </summary>
public sealed class MakeRoomTests
{
    private const string Data = "voron.data";

    /// <summary>Each commit wrote all pages of the paused flush again.</summary>
    [Fact]
    public void Many_commits_beside_a_paused_flush_write_its_pages_once()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        Fill(environment, "a", 1_000, 2_000);
        environment.Flush();
        Fill(environment, "a", 1_000, 2_001);
        long written = 0, punches = 0;
        disk.FailNext(
            call =>
            {
                var isData = call.Name == Data;
                written += isData && call.Kind == DiskCallKind.Write ? call.Length : 0;
                punches += isData && call.Kind == DiskCallKind.Punch ? 1 : 0;
                return isData && call.Kind == DiskCallKind.Write && call.Offset + call.Length > 1_500_000;
            },
            DiskError.NoSpace,
            forever: true);
        disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace, forever: true);
        var refused = 0;
        for (var i = 0; i < 1_000 && refused < 30; i++)
        {
            try
            {
                Fill(environment, "b", 20, 3_000, first: 20 * i);
            }
            catch (StorageFullException e)
            {
                e.Message.Should().Contain("not committed");
                refused++;
            }
        }

        refused.Should().Be(30);
        written.Should().BeInRange(1_000_000, 12_000_000, "pages that have been written are not written again");
        disk.ClearFaults();
        environment.Flush().Should().NotBeNull();
        Fill(environment, "b", 20, 3_000);
        environment.Verify().Problems.Should().BeEmpty();
        ShouldHave(environment, "a", 1_000, 2_001);
    }

    /// <summary>The pages written before the pause and the rest written after it make the flush complete.</summary>
    [Fact]
    public void A_flush_that_continues_after_a_pause_leaves_every_page_on_the_disk()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options()))
        {
            Fill(environment, "a", 3_000, 2_000);
            environment.Flush();
            Fill(environment, "a", 3_000, 2_001);
            for (var limit = 500_000; limit < 6_000_000; limit += 500_000)
            {
                var most = limit;
                disk.ClearFaults();
                disk.FailNext(
                    call => call.Name == Data && call.Kind == DiskCallKind.Write && call.Offset + call.Length > most,
                    DiskError.NoSpace,
                    forever: true);
                environment.Invoking(open => open.Flush()).Should().Throw<StorageFullException>().WithMessage("*paused*");
            }

            disk.ClearFaults();
            var report = environment.Flush()!.Value;
            report.Bytes.Should().BeGreaterThan(6_000_000, "pages written before the pause count");
            environment.Verify().Problems.Should().BeEmpty();
        }

        using var reopened = StorageEnvironment.Open(disk, Options());
        reopened.Verify().Problems.Should().BeEmpty();
        ShouldHave(reopened, "a", 3_000, 2_001);
    }

    /// <summary>Each hole costs a call, and another one when its pages are needed again: usually a flush is enough.</summary>
    [Fact]
    public void Free_pages_are_released_only_when_a_flush_was_not_enough()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        Fill(environment, "a", 200, 100_000);
        Fill(environment, "kept", 1, 10);
        Delete(environment, "a");
        environment.Flush();
        for (var i = 0; i < 50; i++)
            Fill(environment, "b", 10, 3_000);
        disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace, forever: true);
        var before = environment.GetStatistics().Flushes;
        for (var i = 0; i < 100; i++)
            Fill(environment, "b", 10, 3_000);
        environment.GetStatistics().Flushes.Should().BeGreaterThan(before, "commits have found no room");
        disk.Count(TraceKind.Punch).Should().Be(0);
    }

    [Fact]
    public void A_commit_releases_free_pages_when_a_flush_makes_no_room_for_it()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        Fill(environment, "kept", 1, 10);
        Fill(environment, "a", 200, 100_000);
        Fill(environment, "last", 1, 10);
        Delete(environment, "a");
        environment.Flush();
        using var reading = environment.BeginRead();
        disk.SpaceLimit = disk.UsedBytes;
        for (var i = 0; i < 100; i++)
            Fill(environment, "kept", 1, 3_000);
        disk.Count(TraceKind.Punch).Should().BeGreaterThan(0);
        environment.GetStatistics().ReclaimedBytes.Should().BeGreaterThan(0);
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>
    /// The search holds up the writer: it examines one section after another until its time is up, and the next commit continues it.
    /// </summary>
    [Fact]
    public void The_search_for_free_pages_is_bounded_and_continues_with_the_next_commit()
    {
        var disk = new SimulatedDisk();
        var options = Options(longestPunch: TimeSpan.Zero, maxJournalFileBytes: 16 << 20);
        using var environment = StorageEnvironment.Open(disk, options);
        Fill(environment, "kept", 1, 10);
        Fill(environment, "a", 400, 100_000);
        Fill(environment, "last", 1, 10);
        Delete(environment, "a");
        environment.Flush();
        using var reading = environment.BeginRead();
        disk.SpaceLimit = disk.UsedBytes;
        var sections = new List<long>();
        disk.FailNext(
            call =>
            {
                if (call.Kind == DiskCallKind.Punch)
                    sections.Add(call.Offset / (4 << 20));
                return false;
            },
            DiskError.Failed,
            forever: true);

        // Other users of the disk take the released space at once.
        var refused = 0;
        for (var i = 0; i < 2_000 && sections.Distinct().Count() < 4; i++)
        {
            var before = sections.Distinct().Count();
            try
            {
                Fill(environment, "kept", 1, 3_000);
            }
            catch (StorageFullException)
            {
                refused++;
            }

            (sections.Distinct().Count() - before).Should().BeLessThanOrEqualTo(1, "there is time for one section only");
            disk.SpaceLimit = disk.UsedBytes;
        }

        sections.Distinct().Count().Should().Be(4, $"each search continues where the one before ended; {refused} commits were refused");
    }

    /// <summary>The engine did not know of the hole that the failed call had made: pages placed in it could not be flushed.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_hole_whose_call_has_failed_is_given_blocks_before_it_is_used(bool byCommit)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options());
        Fill(environment, "kept", 1, 10);
        Fill(environment, "a", 100, 100_000);
        Fill(environment, "last", 1, 10);
        environment.Flush();
        Delete(environment, "a");
        environment.Flush();
        var holes = 0;
        disk.FailNext(
            call =>
            {
                if (call.Kind != DiskCallKind.Punch || holes < 0)
                    return false;
                var made = holes + 1;
                holes = -1;
                using (var file = disk.Open(Data, DiskOpen.Existing, DiskAccess.Buffered))
                    file.TryPunchHole(call.Offset, call.Length).Should().BeTrue();
                holes = made;
                return true;
            },
            DiskError.Failed,
            forever: true);
        if (byCommit)
        {
            using var reading = environment.BeginRead();
            disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace, forever: true);
            var write = () =>
            {
                for (var i = 0; i < 1_000; i++)
                    Fill(environment, "kept", 1, 3_000);
            };
            write.Should().Throw<StorageFullException>();
        }
        else
        {
            environment.ReclaimSpace().Should().Be(0);
        }

        holes.Should().BeGreaterThan(0);
        disk.ClearFaults();
        environment.Flush();

        // The values are journaled, with room for the journal and for the hole, so that their pages are taken from the hole.
        disk.SpaceLimit = disk.UsedBytes + (20 << 20);
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("b");
            for (var i = 0; i < 8_000; i++)
                tree.Put(Key(i), FaultTestKit.Value(i, 1_000));
            writing.Commit();
        }

        disk.SpaceLimit = disk.UsedBytes;
        environment.Flush();
        var statistics = environment.GetStatistics();
        statistics.CheckpointTransactionId.Should().Be(statistics.PublishedTransactionId, "committed pages have room in the data file");
        disk.SpaceLimit = long.MaxValue;
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static StorageOptions Options(TimeSpan? longestPunch = null, long maxJournalFileBytes = 256 << 10) => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = maxJournalFileBytes,
        LargeValueBytes = 16 << 10,
        JournaledValueBytes = 0,
        JournalCompression = JournalCompression.Never,
        LongestPunch = longestPunch ?? TimeSpan.FromMinutes(1),
    };

    private static void Fill(StorageEnvironment environment, string name, int count, int length, int first = 0)
    {
        for (var from = first; from < first + count; from += 50)
        {
            using var writing = environment.BeginWrite();
            var tree = writing.CreateTree(name);
            for (var i = from; i < Math.Min(first + count, from + 50); i++)
                tree.Put(Key(i), FaultTestKit.Value(i, length));
            writing.Commit();
        }
    }

    private static void Delete(StorageEnvironment environment, string name)
    {
        using var writing = environment.BeginWrite();
        writing.DeleteTree(name).Should().BeTrue();
        writing.Commit();
    }

    private static void ShouldHave(StorageEnvironment environment, string name, int count, int length)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(name);
        tree.Count.Should().Be(count);
        for (var i = 0; i < count; i++)
        {
            tree.TryGet(Key(i), out var value).Should().BeTrue();
            value.SequenceEqual(FaultTestKit.Value(i, length)).Should().BeTrue();
        }
    }

    private static byte[] Key(int i)
    {
        var key = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(key, i);
        return key;
    }
}
