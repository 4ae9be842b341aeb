using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Opening;

/// <summary>Openings without a commit do not accumulate journal files, however many there are and however they end.</summary>
public sealed class IdleOpeningTests
{
    private const int Openings = 24;
    private const int MaxFiles = 10;

    private static StorageOptions Options(bool background) => new()
    {
        BackgroundFlush = background,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 64 << 10,
        FlushInterval = TimeSpan.MaxValue,
    };

    // Longer than the some 100 ms of idling after which the flusher's thread confirms the durability of the journal.
    private static void Idle(StorageEnvironment environment, int expectedWrites) =>
        TestWait.GiveTimeFor(() => environment.GetStatistics().JournalWrites > expectedWrites, TimeSpan.FromMilliseconds(400));

    [Fact]
    public void An_opening_after_a_clean_close_writes_nothing_while_it_idles()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options(background: true)))
            Put(environment, 0, 10);
        using var idle = StorageEnvironment.Open(disk, Options(background: true));
        Idle(idle, expectedWrites: 0);
        idle.GetStatistics().JournalWrites.Should().Be(0);
        Count(idle).Should().Be(10);
    }

    /// <summary>A file that is prepared for the first record has no name, and vanishes without one.</summary>
    [Fact]
    public void An_environment_without_a_commit_leaves_its_directory_as_it_was()
    {
        using var directory = new TestDirectory();
        using (var environment = StorageEnvironment.Open(directory, new StorageOptions()))
            Put(environment, 0, 10);
        var before = FaultTestKit.Bytes(directory);
        var time = Directory.GetLastWriteTimeUtc(directory);
        using (var environment = StorageEnvironment.Open(directory, new StorageOptions { StatusInterval = Timeout.InfiniteTimeSpan }))
        {
            // Windows, which prepares no file, opens none that is in use.
            if (environment.Internals.Engine.Disk.HasUnnamedFiles)
            {
                environment.Internals.PrepareJournal();
                FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(directory), before);
            }
        }

        FaultTestKit.ShouldBeUnchanged(FaultTestKit.Bytes(directory), before);
        Directory.GetLastWriteTimeUtc(directory).Should().Be(time);
        using var again = StorageEnvironment.Open(directory, new StorageOptions());
        Put(again, 10, 1);
        Count(again).Should().Be(11);
    }

    /// <summary>
    /// The first opening after the crash confirms the last record, so that its loss would be noticed; the next openings find it confirmed.
    /// </summary>
    [Fact]
    public void Openings_that_idle_and_are_killed_confirm_the_last_record_once()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, Options(background: false));
        Put(environment, 0, 10);
        disk = Kill(environment, disk);
        var writes = 0L;
        for (var i = 0; i < 4; i++)
        {
            environment = StorageEnvironment.Open(disk, Options(background: true));
            Count(environment).Should().Be(10);
            if (i == 0)
                TestWait.Until(() => environment.GetStatistics().JournalWrites > 0, "the first opening confirms the record");
            Idle(environment, expectedWrites: i == 0 ? 1 : 0);
            writes += environment.GetStatistics().JournalWrites;
            environment.Internals.Engine.JournalFiles!.LiveCount.Should().BeLessThanOrEqualTo(2);
            disk = Kill(environment, disk, i);
        }

        writes.Should().Be(1);
        Files(disk).Should().BeLessThanOrEqualTo(MaxFiles);
    }

    /// <summary>
    /// Earlier versions of the engine confirmed the journal at each opening and so left one record for each, without a transaction. There
    /// is nothing to flush; the files are released all the same, even if the power fails meanwhile.
    /// </summary>
    [Fact]
    public void Journal_files_without_transactions_are_released_when_an_environment_is_opened()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options(background: false)))
            Put(environment, 0, 10);
        disk = FileSet.Of(disk).ToDisk();
        for (var i = 0; i < Openings; i++)
        {
            var environment = StorageEnvironment.Open(disk, Options(background: false));
            environment.Internals.Engine.JournalFiles!.LiveCount.Should().BeLessThanOrEqualTo(MaxFiles, "after {0} openings", i);
            environment.Internals.ConfirmDurability();
            var opened = disk;
            disk = Kill(environment, disk, i);
            if (i % 3 == 0)
                CheckCuts(opened, i);
        }

        Files(disk).Should().BeLessThanOrEqualTo(2 * MaxFiles);
        using var last = StorageEnvironment.Open(disk, Options(background: false));
        Put(last, 10, 1);
        last.Flush();
        Count(last).Should().Be(11);
        last.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>The same on a real file system; the files are copied as a killed process leaves them.</summary>
    [Fact]
    public void Journal_files_on_a_real_disk_stay_few_over_openings_that_idle()
    {
        using var root = new TemporaryDirectory();
        var path = Path.Combine(root.Path, "0");
        using (var environment = StorageEnvironment.Open(path, Options(background: false)))
        {
            Put(environment, 0, 10);
            environment.Flush();
            Put(environment, 10, 1);
            path = Copy(path, Path.Combine(root.Path, "killed"));
        }

        for (var i = 1; i <= Openings; i++)
        {
            using var environment = StorageEnvironment.Open(path, Options(background: i % 6 == 0));
            Count(environment).Should().Be(11);
            if (i % 6 == 0)
                Idle(environment, expectedWrites: 1);
            else
                environment.Internals.ConfirmDurability();
            environment.Internals.Engine.JournalFiles!.LiveCount.Should().BeLessThanOrEqualTo(MaxFiles);
            path = Copy(path, Path.Combine(root.Path, $"{i}"));
        }

        Directory.GetFiles(path, "journal-*").Length.Should().BeLessThanOrEqualTo(2 * MaxFiles);
        using var last = StorageEnvironment.Open(path, Options(background: false));
        last.Verify().Problems.Should().BeEmpty();
    }

    private static void CheckCuts(SimulatedDisk disk, int seed)
    {
        var images = new CrashImages(disk);
        for (var cut = 0; cut <= disk.TraceCount; cut++)
        {
            for (var kind = 0; kind < 3; kind++)
            {
                var image = kind == 0 ? images.BuildLost(cut) : images.Build(cut, new Random(seed * 1000 + cut * 10 + kind));
                image.ListingOrder = kind;
                using var environment = StorageEnvironment.Open(image, Options(background: false));
                Count(environment).Should().Be(10, "cut {0} of kind {1} in opening {2}", cut, kind, seed);
                environment.Verify().Problems.Should().BeEmpty();
            }
        }
    }

    private static string Copy(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (var file in Directory.GetFiles(from))
            File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        return to;
    }
}
