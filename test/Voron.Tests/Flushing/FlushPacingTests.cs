using Voron.Flushing;
using Voron.IO;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Flushing;

/// <summary>
/// A flush writes small pieces while commits have room to continue, and large ones when they are about to wait for it, or when none is left. It
/// waits for each by a write-back, or by syncs where the system has none.
/// </summary>
public sealed class FlushPacingTests
{
    private const int Bytes = 24 << 20;
    private const int Transactions = Bytes / 10_000;

    // Pages are not full, so a flush writes more pieces, but not twice as many.
    private const int Pieces = (int)(Bytes / FlushPacing.PieceBytes);

    // Syncs of the flush itself: its stamp, the pages, new files.
    private const int OtherSyncs = 4;

    [Fact]
    public void With_room_in_the_journal_each_small_piece_is_written_back_and_the_data_file_synced_once()
    {
        var (writeBacks, syncs) = WaitsOfFlush(new StorageOptions(), environment => environment.Flush());
        writeBacks.Should().BeInRange(Pieces, 2 * Pieces);
        syncs.Should().BeInRange(1, OtherSyncs);
    }

    [Fact]
    public void Without_a_write_back_the_data_file_is_synced_after_a_few_small_pieces()
    {
        var (_, syncs) = WaitsOfFlush(new StorageOptions(), environment => environment.Flush(), writesBack: false);
        syncs.Should().BeInRange((int)(Bytes / FlushPacing.SyncedBytes), (int)(2 * Bytes / FlushPacing.SyncedBytes));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Near_the_limit_of_the_journal_the_pieces_are_large(bool writesBack)
    {
        var options = new StorageOptions { JournalLimitBytes = Bytes, FlushThresholdBytes = Bytes };
        var (writeBacks, syncs) = WaitsOfFlush(options, environment => environment.Flush(), writesBack);
        (writeBacks + syncs).Should().BeLessThan(Pieces / 8);
    }

    [Fact]
    public void At_the_close_the_pieces_are_large()
    {
        var (writeBacks, syncs) = WaitsOfFlush(new StorageOptions(), environment => environment.Dispose());
        (writeBacks + syncs).Should().BeLessThan(Pieces / 8);
    }

    /// <summary>After a failed write-back a sync could succeed although bytes were lost, so the flush must not reach its sync.</summary>
    [Fact]
    public void A_failed_write_back_poisons_the_environment_and_loses_nothing()
    {
        var disk = new SimulatedDisk();
        var environment = Fill(disk, new StorageOptions());
        var syncs = -1;
        var headers = 0;
        disk.FailNext(
            call => call.Kind == DiskCallKind.WriteBack && (syncs = disk.Count(TraceKind.Sync)) >= 0, DiskError.Failed, dropsDirty: true);
        disk.FailNext(
            call => syncs >= 0 && call is { Kind: DiskCallKind.Write, Name: HeaderFile.FileName } && ++headers < 0, DiskError.Failed, forever: true);
        environment.Invoking(failed => failed.Flush()).Should().Throw<EnvironmentPoisonedException>().WithMessage("*voron.data*");
        environment.Invoking(failed => failed.Flush()).Should().Throw<EnvironmentPoisonedException>();
        environment.Dispose();
        disk.Count(TraceKind.Sync).Should().Be(syncs, "a sync could succeed falsely");
        headers.Should().Be(0);

        using var again = StorageEnvironment.Open(disk, new StorageOptions());
        using (var reading = again.BeginRead())
            reading.OpenTree("a").Count.Should().Be(Transactions * 10);
        again.Verify().Problems.Should().BeEmpty();
    }

    private static (int WriteBacks, int Syncs) WaitsOfFlush(StorageOptions options, Action<StorageEnvironment> flush, bool writesBack = true)
    {
        var disk = new SimulatedDisk { WritesBack = writesBack };
        using var environment = Fill(disk, options);
        var writeBacks = 0;
        var syncs = disk.Count(TraceKind.Sync);
        disk.FailNext(call => call.Kind == DiskCallKind.WriteBack && ++writeBacks < 0, DiskError.Failed);
        flush(environment);
        return (writeBacks, disk.Count(TraceKind.Sync) - syncs);
    }

    private static StorageEnvironment Fill(SimulatedDisk disk, StorageOptions options)
    {
        options = new StorageOptions(options) { BackgroundFlush = false, JournalCompression = JournalCompression.Never };
        var environment = StorageEnvironment.Open(disk, options);
        for (var i = 0; i < Transactions; i++)
        {
            environment.Write(writing =>
            {
                var tree = writing.CreateTree("a");
                for (var j = 0; j < 10; j++)
                    tree.Put(FaultTestKit.Key(10 * i + j), FaultTestKit.Value(j, 1000));
            });
        }

        return environment;
    }
}
