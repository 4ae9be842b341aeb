using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Simulation.Disks;
using static Voron.Tests.Journal.JournalTestKit;

namespace Voron.Tests.Journal;

/// <summary>The choice of journal files that are zeroed before use, and the number of files that are kept.</summary>
[Quick]
public sealed class JournalFilesTests
{
    private const int LargePuts = 20_000;

    private static readonly StorageOptions Options = new()
    {
        BackgroundFlush = false,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 256 << 10,
        JournalCompression = JournalCompression.Never,
    };

    /// <summary>
    /// A transaction of some MiB begins a journal file of its own, whose blocks are allocated but not zeroed before the record is written.
    /// The power fails right after the commit, and again after a small commit that follows it.
    /// </summary>
    [Fact]
    public void A_large_record_is_written_once_and_is_there_after_a_crash()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        Put(environment, 0, 1);
        var before = JournalBytesWritten(disk, 0);
        var from = disk.TraceCount;
        Put(environment, 1, LargePuts);
        var journal = environment.GetStatistics().LiveJournalBytes;
        before.Should().BeGreaterThanOrEqualTo(64 << 10, "a small record writes zeros to the end of its file");
        journal.Should().BeGreaterThan(2 << 20);
        JournalBytesWritten(disk, from).Should().BeLessThan(journal * 5 / 4);

        var crashed = new CrashImages(disk).BuildLost(disk.TraceCount);
        using var again = StorageEnvironment.Open(crashed, Options);
        Count(again).Should().Be(LargePuts + 1);
        Put(again, LargePuts + 1, 1);
        var crashedAgain = new CrashImages(crashed).BuildLost(crashed.TraceCount);
        using var last = StorageEnvironment.Open(crashedAgain, Options);
        Count(last).Should().Be(LargePuts + 2);
        last.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>
    /// A small record in blocks that were never written brings zeros to the next multiple of 64 KiB, in the same write. Records in written blocks
    /// bring none, also in the next epoch of the file, and none reaches beyond its file.
    /// </summary>
    [Fact]
    public void Small_records_write_the_zeros_of_new_blocks_once()
    {
        const int Ahead = RecordBatchWriter.AheadBytes;
        var disk = new SimulatedDisk();
        var options = new StorageOptions
        {
            BackgroundFlush = false,
            InitialJournalFileBytes = 180_000,
            MaxJournalFileBytes = 180_000,
            JournalCompression = JournalCompression.Never,
        };
        using var environment = StorageEnvironment.Open(disk, options);
        Put(environment, 0, 1);
        var length = disk.List().Single(file => JournalFile.IndexOf(file.Name) >= 0).Length;
        var newBlocks = Enumerable.Range(1, 200).SelectMany(i => WritesOf(disk, () => Put(environment, i, 1))).ToList();
        newBlocks.Should().Contain(write => write.Length > 4096).And.OnlyContain(
            write => write.Length == 4096 || write.End % Ahead == 0 || write.End == length || write.Offset < JournalFormat.FirstRecordOffset)
            .And.OnlyContain(write => write.End <= length);
        newBlocks.Where(write => write.Offset >= JournalFormat.FirstRecordOffset).Sum(write => write.Length - 4096).Should()
            .BeLessThan(newBlocks.Select(write => write.File).Distinct().Count() * length);

        for (var round = 0; round < 3; round++)
        {
            environment.Flush();
            for (var i = 0; i < 100; i++)
                Put(environment, i, 1, seed: round);
        }

        environment.Flush();
        WritesOf(disk, () => Put(environment, 0, 1, seed: 9)).Should()
            .OnlyContain(write => write.Length == 4096, "the file was written in an earlier epoch");
    }

    /// <summary>A file is zeroed in advance if the record that began the one before it is neither small nor large.</summary>
    [Theory]
    [InlineData(1, false)]
    [InlineData(100, true)]
    [InlineData(6000, false)]
    public void Files_are_zeroed_in_advance_for_records_of_some_blocks(int puts, bool isZeroed)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        Put(environment, 0, puts);
        var zeroed = 0;
        for (var i = 1; i < (puts == 1 ? 200 : 12); i++)
        {
            var writes = WritesOf(disk, () => Put(environment, i * puts, puts));
            zeroed += writes.Count(write => write is { Offset: 0, Length: > JournalFormat.FirstRecordOffset });
        }

        (zeroed > 0).Should().Be(isZeroed);
    }

    [Fact]
    public void A_closed_store_keeps_few_journal_files_and_an_open_one_those_of_a_flush()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, Options);
        for (var i = 0; i < 100; i++)
            Put(environment, i * 100, 100);
        environment.Flush();
        Files(disk).Should().BeGreaterThan(4);
        environment.Dispose();
        Files(disk).Should().BeLessThanOrEqualTo(4);
        using var again = StorageEnvironment.Open(disk, Options);
        Count(again).Should().Be(10_000);
    }

    /// <summary>One huge transaction must not leave the store with files that no other transaction will ever fill.</summary>
    [Fact]
    public void The_file_of_a_huge_record_is_not_kept()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        Put(environment, 0, LargePuts);
        var huge = environment.GetStatistics().TotalJournalBytes;
        huge.Should().BeGreaterThan(16 * Options.MaxJournalFileBytes);
        for (var i = 0; i < 20; i++)
        {
            Put(environment, LargePuts + i * 100, 100);
            environment.Flush();
        }

        environment.GetStatistics().TotalJournalBytes.Should().BeLessThan(huge / 2);
    }

    /// <summary>Files kept for reuse are given up when a larger file can get room only from them.</summary>
    [Fact]
    public void Files_kept_for_reuse_make_room_for_a_record_that_needs_more()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        for (var i = 0; i < 100; i++)
            Put(environment, i * 100, 100);
        environment.Flush();
        var statistics = environment.GetStatistics();
        var kept = statistics.TotalJournalBytes - statistics.LiveJournalBytes;
        kept.Should().BeGreaterThan(1 << 20);
        disk.SpaceLimit = disk.UsedBytes + (64 << 10);
        Put(environment, 0, 4_000);
        Count(environment).Should().Be(10_000);
    }

    /// <summary>The headers were read twice: before and after the files were synced.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void An_opening_reads_the_header_of_each_journal_file_once(bool afterCrash)
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, Options);
        for (var i = 0; i < 60; i++)
        {
            Put(environment, i * 100, 100);
            if (i == 30)
                environment.Flush();
        }

        if (afterCrash)
            disk = Kill(environment, disk);
        else
            environment.Dispose();
        var reads = new Dictionary<string, int>();
        disk.FailNext(
            call =>
            {
                if (call.Kind == DiskCallKind.Read && JournalFile.IndexOf(call.Name) >= 0 && call.Offset == 0)
                    reads[call.Name] = reads.GetValueOrDefault(call.Name) + 1;
                return false;
            },
            DiskError.Failed,
            forever: true);
        using var again = StorageEnvironment.Open(disk, Options);
        disk.ClearFaults();
        reads.Should().HaveCount(Files(disk)).And.OnlyContain(file => file.Value == 1);
        Count(again).Should().Be(6_000);
    }

    private static List<JournalWrite> WritesOf(SimulatedDisk disk, Action commit)
    {
        var from = disk.TraceCount;
        commit();
        var files = disk.List().Where(file => JournalFile.IndexOf(file.Name) >= 0).Select(file => disk.FileOf(file.Name)).ToHashSet();
        return [.. Enumerable.Range(from, disk.TraceCount - from).Select(disk.Trace)
            .Where(entry => entry.Kind == TraceKind.Write && files.Contains(entry.File))
            .Select(entry => new JournalWrite(entry.File, entry.Offset, entry.Length))];
    }

    private static long JournalBytesWritten(SimulatedDisk disk, int from)
    {
        var bytes = 0L;
        var journals = disk.List().Where(file => file.Name.StartsWith("journal-", StringComparison.Ordinal));
        var files = journals.Select(file => disk.FileOf(file.Name)).ToHashSet();
        for (var i = from; i < disk.TraceCount; i++)
        {
            var entry = disk.Trace(i);
            if (entry.Kind == TraceKind.Write && files.Contains(entry.File))
                bytes += entry.Length;
        }

        return bytes;
    }

    private readonly record struct JournalWrite(int File, long Offset, long Length)
    {
        public long End => Offset + Length;
    }
}
