using Voron.Flushing;
using Voron.Journal;
using Voron.Simulation.Disks;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Journal;

/// <summary>The choice of a journal file on a disk without much room, and of the released files that are given up for it.</summary>
[Quick]
public sealed class JournalRoomTests
{
    private const int Items = 40;

    private static StorageOptions Options(long maxFileBytes, TornPageProtection form = TornPageProtection.Checksums) => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = maxFileBytes,
        JournalCompression = JournalCompression.Never,
        TornPageProtection = form,
    };

    /// <summary>
    /// Each new file is twice as long as the one before. There may be no room for a file of the next length where a shorter one would fit.
    /// </summary>
    [Fact]
    public void Commits_continue_while_there_is_room_for_any_journal_file_that_they_fit_into()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(16 << 20));
        Put(environment, 0, Items);
        environment.Flush();

        // The reader keeps every flush from releasing a file.
        using var reading = environment.BeginRead();
        while (disk.UsedBytes < 8 << 20)
            Put(environment, 0, Items, seed: disk.TraceCount);
        disk.SpaceLimit = disk.UsedBytes + (1 << 20);
        var fill = () =>
        {
            for (var i = 0; i < 2_000; i++)
                Put(environment, 0, Items, seed: i);
        };
        fill.Should().Throw<StorageFullException>();
        (disk.SpaceLimit - disk.UsedBytes).Should().BeLessThan(64 << 10, "a commit of some 16 KiB fits into a file of 64 KiB");

        reading.Dispose();
        Put(environment, 0, Items);
        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>
    /// The engine prefers a file with room for the images of a flush twice. If there is none, a released file has room for them once.
    /// </summary>
    [Fact]
    public void A_released_file_that_is_long_enough_is_used_before_any_is_deleted()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(256 << 10, TornPageProtection.FullPageImages));
        for (var i = 0; i < 40; i++)
            Put(environment, i * 100, 100);
        environment.Flush();
        var files = Files(disk);
        files.Should().BeGreaterThan(5);
        disk.SpaceLimit = disk.UsedBytes;
        var from = disk.TraceCount;

        // Changes pages that are spread over the tree, each of which needs an image.
        for (var i = 0; i < 36; i++)
            Put(environment, i * 100, 1);
        Deletions(disk, from).Should().Be(0);
        Files(disk).Should().Be(files);
        Count(environment).Should().Be(4_000);
    }

    [Fact]
    public void Released_files_that_are_too_short_are_deleted_only_as_far_as_they_are_in_the_way()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(256 << 10));
        for (var i = 0; i < 100; i++)
            Put(environment, i * 100, 100);
        environment.Flush();
        var files = Files(disk);
        files.Should().BeGreaterThan(8);
        disk.SpaceLimit = disk.UsedBytes + (64 << 10);
        var from = disk.TraceCount;
        Put(environment, 0, 2_000);
        Deletions(disk, from).Should().BeInRange(1, 4);
        Count(environment).Should().Be(10_000);
    }

    [Fact]
    public void No_released_file_is_deleted_to_make_a_spare()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options(256 << 10));
        for (var i = 0; i < 40; i++)
            Put(environment, i * 100, 100);
        environment.Flush();

        // The file of this commit is longer than all released ones, and the spare has to be as long.
        Put(environment, 0, 3_000);
        disk.SpaceLimit = disk.UsedBytes;
        var files = Files(disk);
        SpareJournalFiles.Prepare(environment.Internals.Engine);
        Files(disk).Should().Be(files);
        environment.Internals.Engine.JournalFiles!.WantsSpare.Should().BeTrue();
        Count(environment).Should().Be(4_000);
    }

    // A file for which there was no room is deleted again before it has a name.
    private static int Deletions(SimulatedDisk disk, int from) =>
        Enumerable.Range(from, disk.TraceCount - from).Select(disk.Trace)
            .Count(entry => entry.Kind == TraceKind.Delete && JournalFile.IndexOf(entry.Name) >= 0);
}
