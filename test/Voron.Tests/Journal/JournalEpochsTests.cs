using Voron.Flushing;
using Voron.Format;
using Voron.Journal;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Journal;

/// <summary>
/// Epoch numbers of journal files that an unsynced directory brings back, and the number of files that crashes and readers leave.
/// </summary>
public sealed class JournalEpochsTests
{
    private static StorageOptions Options => new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 64 << 10,
        JournalCompression = JournalCompression.Never,
    };

    /// <summary>
    /// The close deletes the spare, which had the highest epoch number, and does not sync the directory. The next opening gave a released
    /// file that number; the power cut brought the spare back, and replay found two files of one epoch.
    /// </summary>
    [Fact]
    public void A_spare_that_a_power_cut_brings_back_does_not_hide_the_file_where_replay_starts()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options))
        {
            for (var i = 0; i < 4000; i += 40)
                Put(environment, i, 40);
            environment.Flush();
            Put(environment, 4000, 1);
            SpareJournalFiles.Prepare(environment.Internals.Engine);
        }

        var from = disk.TraceCount;
        using (var environment = StorageEnvironment.Open(disk, Options))
        {
            Put(environment, 4001, 1);
            environment.Flush();
            Put(environment, 4002, 1);
        }

        var images = new CrashImages(disk);
        for (var cut = from; cut <= disk.TraceCount; cut++)
        {
            for (var seed = 0; seed < 6; seed++)
            {
                var image = seed == 0 ? images.BuildLost(cut) : images.Build(cut, new Random(seed));
                image.ListingOrder = seed;
                using var opened = StorageEnvironment.Open(image, Options);
                Count(opened).Should().BeInRange(4001, 4003, $"cut {cut}, seed {seed}");
                opened.Verify().Problems.Should().BeEmpty();
            }
        }
    }

    /// <summary>
    /// An opening deletes a spare of which a power cut has left one header, and does not sync the directory. If it is killed then, the next one
    /// finds no file with that epoch, and a released file gets it: the power cut that follows brings the spare back, and there are two files.
    /// </summary>
    [Fact]
    public void No_file_gets_the_epoch_of_one_whose_deletion_is_not_durable()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, Options);
        for (var i = 0; i < 4000; i += 40)
            Put(environment, i, 40);
        environment.Flush();

        // Enough in the newest file for another one to be prepared.
        for (var i = 4000; i < 4120; i += 40)
            Put(environment, i, 40);
        environment.Internals.Engine.JournalFiles!.WantsSpare.Should().BeTrue();
        SpareJournalFiles.Prepare(environment.Internals.Engine);
        disk = Kill(environment, disk);
        var files = FileSet.Of(disk);
        var spare = files.Names.Where(name => JournalFile.IndexOf(name) >= 0).MaxBy(name => EpochOf(files, name))!;
        var torn = FaultTestKit.Bytes(disk);
        new Random(1).NextBytes(torn[spare].AsSpan(JournalFormat.Block, JournalFormat.Block));
        disk = FaultTestKit.DiskOf(torn);
        Files(disk).Should().BeGreaterThan(3);

        using (StorageEnvironment.Open(disk, Options))
        {
            disk.List().Should().NotContain(entry => entry.Name == spare);
            disk = new CrashImages(disk).BuildKilled(disk.TraceCount);
        }

        using (var opened = StorageEnvironment.Open(disk, Options))
        {
            Put(opened, 4120, 1);
            Put(opened, 4121, 1);
            var images = new CrashImages(disk);
            for (var seed = 0; seed < 40; seed++)
            {
                var image = seed == 0 ? images.BuildLost(disk.TraceCount) : images.Build(disk.TraceCount, new Random(seed));
                image.ListingOrder = seed;
                var names = FileSet.Of(image);
                names.Names.Where(name => JournalFile.IndexOf(name) >= 0).Select(name => EpochOf(names, name)).Should().OnlyHaveUniqueItems();
                using var again = StorageEnvironment.Open(image, Options);
                Count(again).Should().Be(4122, $"seed {seed}");
            }
        }
    }

    /// <summary>
    /// Two complete files of one epoch, as earlier engines have left them, in every order in which a directory may be listed.
    /// </summary>
    [Fact]
    public void The_incarnation_distinguishes_two_files_of_one_epoch()
    {
        var disk = new SimulatedDisk();
        FileSet spare;
        using (var environment = StorageEnvironment.Open(disk, Options))
        {
            for (var i = 0; i < 4000; i += 40)
                Put(environment, i, 40);
            environment.Flush();
            Put(environment, 4000, 1);
            var before = disk.List().Select(entry => entry.Name).ToHashSet();
            SpareJournalFiles.Prepare(environment.Internals.Engine);
            spare = FileSet.Of(disk);
            disk.List().Select(entry => entry.Name).Should().BeEquivalentTo(before, "a released file became the spare");
        }

        // The close has deleted the spare, or kept the file without beginning an epoch: either way its old epoch
        // comes back under a name of its own.
        var highest = spare.Names.Where(name => JournalFile.IndexOf(name) >= 0).MaxBy(name => EpochOf(spare, name))!;
        FileSet after;
        using (var environment = StorageEnvironment.Open(disk, Options))
        {
            Put(environment, 4001, 1);
            environment.Flush();
            Put(environment, 4002, 1);
            after = FileSet.Of(disk);
        }

        after["journal-00000099.voron"] = spare[highest];
        for (var order = 0; order < 40; order++)
        {
            using var opened = StorageEnvironment.Open(after.ToDisk(order), Options);
            Count(opened).Should().Be(4003, $"order {order}");
            Put(opened, 4003, 1);
        }
    }

    [Fact]
    public void A_thousand_crashes_leave_few_journal_files()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options))
            Put(environment, 0, 1);
        for (var i = 1; i <= 1000; i++)
        {
            var environment = StorageEnvironment.Open(disk, Options);
            Put(environment, i, 1);
            disk = Kill(environment, disk, i);
        }

        Files(disk).Should().BeLessThan(40);
        using var last = StorageEnvironment.Open(disk, Options);
        Count(last).Should().Be(1001);
    }

    [Fact]
    public void An_open_environment_with_many_journal_files_keeps_few_of_them_open()
    {
        var disk = new SimulatedDisk();
        using (var environment = StorageEnvironment.Open(disk, Options))
        {
            for (var i = 0; i < 100; i++)
                Put(environment, i * 200, 200);
            environment.Internals.Engine.JournalFiles!.LiveCount.Should().BeGreaterThan(60);
            disk.OpenFiles.Should().BeLessThan(12);

            // The files remain until the next flush allows their reuse, and are opened for that.
            environment.Flush();
            for (var i = 0; i < 100; i++)
                Put(environment, i * 200, 200);
            disk.OpenFiles.Should().BeLessThan(12);
            environment.Internals.Engine.Poison.Set(new InvalidOperationException("killed"));
        }

        // The maximum number of files that are open at once while all of them are read.
        var most = 0;
        disk.FailNext(_ => (most = Math.Max(most, disk.OpenFiles)) < 0, Voron.IO.DiskError.Failed, forever: true);
        using var again = StorageEnvironment.Open(disk, Options);
        disk.ClearFaults();
        Count(again).Should().Be(20_000);
        most.Should().BeLessThan(12);
    }

    /// <summary>
    /// The journal stays far from its limit in bytes, with the default flush threshold, which small files reach only long after they have
    /// become many: an opening looks into each of them.
    /// </summary>
    [Fact]
    public void A_long_reader_keeps_few_journal_files_live_however_small_they_are()
    {
        var disk = new SimulatedDisk();
        var options = new StorageOptions
        {
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            JournalCompression = JournalCompression.Never,
            ScrubInterval = Timeout.InfiniteTimeSpan,
        };
        using var environment = StorageEnvironment.Open(disk, options);
        Put(environment, 0, 200);
        environment.Flush();
        var most = 0;
        var mostOpen = 0;
        using (var reading = environment.BeginRead())
        {
            // Each commit fills a file.
            for (var i = 0; i < 900; i++)
            {
                Put(environment, 0, 200, seed: i);
                most = Math.Max(most, environment.Internals.Engine.JournalFiles!.LiveCount);
                mostOpen = Math.Max(mostOpen, disk.OpenFiles);
            }

            var statistics = environment.GetStatistics();
            statistics.JournalTransactionBytes.Should().BeInRange(32 << 20, options.FlushThresholdBytes);
            statistics.JournalSnapshots.Should().BeGreaterThanOrEqualTo(2);
            most.Should().BeInRange(200, 400);
            mostOpen.Should().BeLessThan(16);
            reading.OpenTree("t").Count.Should().Be(200);
        }

        environment.Flush();
        environment.Verify().Problems.Should().BeEmpty();
    }

    private static long EpochOf(FileSet files, string name)
    {
        var block = new byte[72];
        files[name].Read(0, block);
        return BitConverter.ToInt64(block, 64);
    }
}
