using Voron.Format;
using Voron.Simulation.Disks;

namespace Voron.Tests.Recovery;

[Quick]
public sealed class ManyJournalFilesTests
{
    /// <summary>
    /// More journal files are live than the header of a file has room for seals, for example because a reader has held the flusher back,
    /// and the power fails. The next opening replays them all, and its first commit begins a file that seals the live ones.
    /// </summary>
    [Fact]
    public void More_live_files_than_a_header_has_seals_can_be_recovered_and_written_on()
    {
        var options = new StorageOptions
        {
            BackgroundFlush = false,
            InitialJournalFileBytes = 64 << 10,
            MaxJournalFileBytes = 64 << 10,
            JournalCompression = JournalCompression.Never,
            LargeValueBytes = 64 << 10,
        };
        var random = new Random(1);
        var value = new byte[40_000];
        var disk = new SimulatedDisk();
        using var running = StorageEnvironment.Open(disk, options);
        const int Commits = JournalFileHeader.MaxSeals + 20;
        for (var i = 0; i < Commits; i++)
            Put(running, i);

        disk.List().Count(file => file.Name.StartsWith("journal-", StringComparison.Ordinal)).Should().BeGreaterThan(JournalFileHeader.MaxSeals);
        var left = new CrashImages(disk).BuildLost(disk.TraceCount);
        using (var recovered = StorageEnvironment.Open(left, options))
        {
            Count(recovered).Should().Be(Commits);
            Put(recovered, Commits);
        }

        using var again = StorageEnvironment.Open(left, options);
        Count(again).Should().Be(Commits + 1);
        again.Verify().Problems.Should().BeEmpty();

        void Put(StorageEnvironment environment, int number)
        {
            random.NextBytes(value);
            using var writing = environment.BeginWrite();
            writing.CreateTree("t").Put(BitConverter.GetBytes(number), value);
            writing.Commit();
        }
    }

    private static long Count(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.OpenTree("t").Count;
    }
}
