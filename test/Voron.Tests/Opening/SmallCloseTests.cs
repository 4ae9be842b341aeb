using Voron.IO;
using Voron.Journal;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Opening;

/// <summary>
/// Closing leaves one small journal file and no free tail of the data file, unless something is in the way. Whatever happens at any step, all
/// commits are found afterwards.
/// </summary>
public sealed class SmallCloseTests
{
    private const int Items = 6_000;
    private const int SmallFile = 64 << 10;
    private const int LargeFile = 256 << 10;
    private const int ImagesPerCut = 4;

    private static StorageOptions Options => new()
    {
        BackgroundFlush = false,
        MaxJournalFileBytes = LargeFile,
        JournalCompression = JournalCompression.Never,
    };

    /// <summary>
    /// The power fails before each call of the close; whatever was not durable is lost, kept, or both. Each image is opened, written, and closed
    /// again, which leaves one small file.
    /// </summary>
    [Fact]
    public void A_power_cut_at_any_step_of_the_close_loses_nothing()
    {
        var (disk, environment) = OpenFilled();
        var from = disk.TraceCount;
        environment.Dispose();
        var kinds = Enumerable.Range(from, disk.TraceCount - from).Select(i => disk.Trace(i).Kind).ToList();
        kinds.Count(kind => kind == TraceKind.Create).Should().Be(1, "the small file is made");
        kinds.Count(kind => kind == TraceKind.Delete).Should().BeGreaterThan(3, "the others are deleted");
        kinds.Should().Contain(TraceKind.SetLength, "the data file is cut");

        var images = new CrashImages(disk);
        var leftovers = 0;
        for (var cut = from; cut <= disk.TraceCount; cut += SuiteShare.Step(2))
        {
            images.StartAt(cut);
            for (var kind = 0; kind < ImagesPerCut + 2; kind++)
            {
                var image = kind switch
                {
                    0 => images.BuildLost(cut),
                    1 => images.BuildKept(cut),
                    _ => images.Build(cut, new Random(cut * ImagesPerCut + kind)),
                };
                leftovers += Files(image) > 1 ? 1 : 0;
                ShouldHaveAll(image, $"cut {cut} ({(cut < disk.TraceCount ? disk.Trace(cut).Kind : "end")}), image {kind}");
            }
        }

        leftovers.Should().BeGreaterThan(10, "the cuts must come before the deletions too, and undo some of them");
    }

    /// <summary>A failing call may keep the journal large, or poison the environment, but loses nothing.</summary>
    [Theory]
    [InlineData(nameof(DiskError.NoSpace))]
    [InlineData(nameof(DiskError.Failed))]
    public void A_failure_of_any_call_of_the_close_loses_nothing(string error)
    {
        var failing = 0;
        var wasCalled = true;
        var small = 0;
        while (wasCalled)
        {
            var (disk, environment) = OpenFilled();
            var calls = 0;
            disk.FailNext(
                call => call.Kind is not (DiskCallKind.List or DiskCallKind.Read or DiskCallKind.Length) && calls++ == failing,
                Enum.Parse<DiskError>(error));
            environment.Dispose();
            wasCalled = calls > failing;
            disk.ClearFaults();
            disk.OpenFiles.Should().Be(0);
            disk.HeldLocks.Should().Be(0);
            small += JournalBytes(disk) <= SmallFile ? 1 : 0;
            ShouldHaveAll(disk, $"call {failing} failed");
            failing++;
        }

        failing.Should().BeGreaterThan(15);
        small.Should().BePositive();
    }

    /// <summary>With a full disk, the released files make room for the small one; a disk that refuses even that keeps the current file.</summary>
    [Fact]
    public void A_full_disk_does_not_keep_the_journal_large()
    {
        var (disk, environment) = OpenFilled();
        environment.Flush();
        disk.SpaceLimit = disk.UsedBytes;
        environment.Dispose();
        JournalBytes(disk).Should().Be(SmallFile);
        ShouldHaveAll(disk, "the disk is full");
    }

    [Fact]
    public void A_small_file_that_cannot_be_made_is_logged_and_the_close_is_clean_all_the_same()
    {
        var log = new ListLogger();
        var (disk, environment) = OpenFilled(log);
        disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace, forever: true);
        environment.Dispose();
        disk.ClearFaults();
        log.Warnings.Should().ContainSingle().Which.Should().Contain("no small file could be made");
        Files(disk).Should().Be(1, "the current file has the end of the journal");
        JournalBytes(disk).Should().Be(LargeFile);
        using (var again = StorageEnvironment.Open(disk, Options))
            again.Recovery.ReplayedRecords.Should().Be(0);
        ShouldHaveAll(disk, "it was closed cleanly");
    }

    /// <summary>A reader of an old snapshot keeps the checkpoint back: the journal is needed, but neither spare nor released files are.</summary>
    [Fact]
    public void Journals_that_an_open_reader_makes_necessary_stay()
    {
        var (disk, environment) = OpenFilled();
        environment.Flush();
        var reading = environment.BeginRead();
        Put(environment, 0, 200, seed: 77);
        Voron.Flushing.SpareJournalFiles.Prepare(environment.Internals.Engine);
        var live = environment.Internals.Engine.JournalFiles!.LiveCount;
        Files(disk).Should().BeGreaterThan(live);
        environment.Dispose();
        Files(disk).Should().Be(live);
        reading.OpenTree("t").Count.Should().Be(Items);
        var crashed = new CrashImages(disk).BuildLost(disk.TraceCount);
        reading.Dispose();
        disk.HeldLocks.Should().Be(0);
        foreach (var left in new[] { crashed, disk })
        {
            using (var again = StorageEnvironment.Open(left, Options))
                again.Recovery.ReplayedRecords.Should().BePositive();
            ShouldHaveAll(left, "the journal was kept");
        }
    }

    /// <summary>The data file is cut when the last reader has ended: until then its map shows the whole file.</summary>
    [Fact]
    public void A_reader_of_the_newest_snapshot_reads_on_after_the_close()
    {
        var (disk, environment) = OpenFilled();
        var reading = environment.BeginRead();
        var before = DataBytes(disk);
        environment.Dispose();
        JournalBytes(disk).Should().Be(SmallFile, "nothing is left to be replayed");
        DataBytes(disk).Should().Be(before);
        var read = 0;
        foreach (var entry in reading.OpenTree("t").GetEntries())
            read += entry.Value.Length == 200 ? 1 : 0;
        read.Should().Be(Items);
        reading.Dispose();
        DataBytes(disk).Should().BeLessThan(before);
        ShouldHaveAll(disk, "the reader has ended");
    }

    /// <summary>The transaction cannot be committed any more, but it may still read what it has written, also past the newest page.</summary>
    [Fact]
    public void A_writer_that_outlives_the_close_keeps_its_pages_until_it_ends()
    {
        var (disk, environment) = OpenFilled();
        var writing = environment.BeginWrite();
        var tree = writing.CreateTree("other");
        var large = FaultTestKit.Value(5, 300_000);
        tree.Put("large"u8, large);
        environment.Dispose();
        tree.TryGet("large"u8, out var value).Should().BeTrue();
        value.SequenceEqual(large).Should().BeTrue();
        tree.Put("small"u8, [1]);
        writing.Dispose();
        disk.HeldLocks.Should().Be(0);
        using (var again = StorageEnvironment.Open(disk, Options))
        {
            using var reading = again.BeginRead();
            reading.TryOpenTree("other", out _).Should().BeFalse();
        }

        ShouldHaveAll(disk, "the transaction was not committed");
    }

    /// <summary>
    /// The files that a power cut brings back have earlier epochs than the one that the header names. They are used again, or deleted at the next
    /// close.
    /// </summary>
    [Fact]
    public void Deleted_files_that_come_back_mean_nothing()
    {
        var (disk, environment) = OpenFilled();
        environment.Dispose();
        var image = new CrashImages(disk).BuildLost(disk.TraceCount);
        Files(image).Should().BeGreaterThan(1, "no sync has made the last deletion durable");
        using (var readOnly = StorageEnvironment.Open(image, new StorageOptions { ReadOnly = true }))
            Count(readOnly).Should().Be(Items);
        using (var again = StorageEnvironment.Open(image, Options))
        {
            again.Recovery.ReplayedRecords.Should().Be(0);
            Put(again, Items, 1);
        }

        Files(image).Should().Be(1);
        JournalBytes(image).Should().Be(SmallFile);
        using var last = StorageEnvironment.Open(image, Options);
        Count(last).Should().Be(Items + 1);
    }

    // Several live files, released ones, a spare, and room at the end of the data file.
    private static (SimulatedDisk Disk, StorageEnvironment Environment) OpenFilled(ListLogger? log = null)
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, new StorageOptions
        {
            BackgroundFlush = false,
            MaxJournalFileBytes = Options.MaxJournalFileBytes,
            JournalCompression = Options.JournalCompression,
            LoggerFactory = log == null ? null : new OneLoggerFactory(log),
        });
        for (var i = 0; i < Items; i += 100)
        {
            Put(environment, i, 100);
            Voron.Flushing.SpareJournalFiles.Prepare(environment.Internals.Engine);
            if (i == Items / 2)
                environment.Flush();
        }

        return (disk, environment);
    }

    private static void ShouldHaveAll(SimulatedDisk disk, string because)
    {
        using (var again = StorageEnvironment.Open(disk, Options))
        {
            Count(again).Should().Be(Items, because);
            again.Verify().Problems.Should().BeEmpty(because);
            Put(again, 0, 1, seed: 1);
        }

        JournalBytes(disk).Should().BeLessThanOrEqualTo(SmallFile, because);
    }

    private static long JournalBytes(SimulatedDisk disk) =>
        disk.List().Where(entry => JournalFile.IsName(entry.Name)).Sum(entry => entry.Length);

    private static long DataBytes(SimulatedDisk disk) => disk.List().Single(entry => entry.Name == DataFile.FileName).Length;
}
