using Voron.Flushing;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>
/// A flush writes small pieces while commits have room to continue, and large ones when they are about to wait for it, or when none is left.
/// </summary>
public sealed class FlushPacingTests
{
    private const int Bytes = 24 << 20;

    // A call writes up to 1 MiB of pages, and the data file is synced after it.
    private const int Pieces = 24;

    [Fact]
    public void With_room_in_the_journal_the_data_file_is_synced_after_each_small_piece() =>
        SyncsOfFlush(new StorageOptions(), environment => environment.Flush()).Should().BeInRange(Pieces, (int)(Bytes / FlushPacing.PieceBytes) + 4);

    [Fact]
    public void Near_the_limit_of_the_journal_the_pieces_are_large()
    {
        var options = new StorageOptions { JournalLimitBytes = Bytes, FlushThresholdBytes = Bytes };
        SyncsOfFlush(options, environment => environment.Flush()).Should().BeLessThan(Pieces / 2);
    }

    [Fact]
    public void At_the_close_the_pieces_are_large() =>
        SyncsOfFlush(new StorageOptions(), environment => environment.Dispose()).Should().BeLessThan(Pieces / 2);

    private static int SyncsOfFlush(StorageOptions options, Action<StorageEnvironment> flush)
    {
        var disk = new SimulatedDisk();
        options = new StorageOptions(options) { BackgroundFlush = false, JournalCompression = JournalCompression.Never };
        using var environment = StorageEnvironment.Open(disk, options);
        for (var i = 0; i < Bytes / 10_000; i++)
        {
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("a");
                for (var j = 0; j < 10; j++)
                    tree.Put(FaultTestKit.Key(10 * i + j), FaultTestKit.Value(j, 1000));
            });
        }

        var before = disk.Count(TraceKind.Sync);
        flush(environment);
        return disk.Count(TraceKind.Sync) - before;
    }
}
