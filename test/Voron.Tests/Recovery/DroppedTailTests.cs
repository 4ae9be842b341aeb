using Microsoft.Extensions.Logging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Recovery;

/// <summary>A damaged last record whose durability was never confirmed looks like an unfinished write: recovery drops and reports it.</summary>
[Quick]
public sealed class DroppedTailTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(0x30)]
    [InlineData(300)]
    public void A_last_record_that_has_rotted_is_dropped_and_named(int byteOfRecord)
    {
        const string Journal = "journal-00000001.voron";
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i < 4; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 500));
        var before = disk.Contents(Journal);
        FaultTestKit.Put(environment, 4, FaultTestKit.Value(4, 500));
        var after = disk.Contents(Journal);
        var offset = 0L;
        while (before[offset] == after[offset])
            offset++;
        offset &= -4096;
        var left = new CrashImages(disk).BuildLost(disk.TraceCount);
        environment.Dispose();

        using (var whole = StorageEnvironment.Open(new CrashImages(left).BuildLost(0), FaultTestKit.Options()))
        {
            whole.Recovery.DroppedRecords.Should().Be(0);
            whole.Recovery.DroppedFile.Should().BeNull();
            whole.Recovery.ReplayedRecords.Should().Be(5);
            whole.Recovery.ReplayedBytes.Should().Be(offset + 4096 - 8192);
            whole.Recovery.TransactionId.Should().Be(5);
        }

        left.FlipBit(Journal, offset + byteOfRecord, 3);
        var logger = new ListLogger();
        using var reopened = StorageEnvironment.Open(left, FaultTestKit.Options(logger));
        FaultTestKit.Get(reopened, 3).Should().Equal(FaultTestKit.Value(3, 500));
        FaultTestKit.Get(reopened, 4).Should().BeNull();
        var report = reopened.Recovery;
        report.TransactionId.Should().Be(4);
        report.ReplayedRecords.Should().Be(4);
        report.DroppedRecords.Should().Be(1);
        report.FirstDroppedTransactionId.Should().Be(5);
        report.LastDroppedTransactionId.Should().Be(5);
        report.DroppedFile.Should().EndWith(Journal);
        report.DroppedOffset.Should().Be(offset);
        var (level, message) = logger.Entries.Should().ContainSingle(entry => entry.Message.Contains("dropped", StringComparison.Ordinal)).Subject;
        level.Should().Be(LogLevel.Information);
        message.Should().Contain(Journal).And.Contain($"offset {offset} ").And.Contain("sequence 5").And.Contain("transactions 5 to 5");
    }

    [Fact]
    public void Records_that_a_device_has_put_in_each_others_place_are_dropped_and_named()
    {
        const string Journal = "journal-00000001.voron";
        const int Block = 4096;
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> files;
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            for (var i = 0; i < 5; i++)
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 500));
            files = FaultTestKit.Bytes(disk);
        }

        // The last two records, of one block each: neither is at the position that it names, and no later record confirms their durability.
        var fourth = files[Journal].AsSpan((2 + 3) * Block, Block);
        var fifth = files[Journal].AsSpan((2 + 4) * Block, Block);
        var kept = fourth.ToArray();
        fifth.CopyTo(fourth);
        kept.CopyTo(fifth);
        using var reopened = StorageEnvironment.Open(FaultTestKit.DiskOf(files), FaultTestKit.Options());
        FaultTestKit.Get(reopened, 2).Should().Equal(FaultTestKit.Value(2, 500));
        FaultTestKit.Get(reopened, 3).Should().BeNull();
        reopened.Recovery.TransactionId.Should().Be(3);
        reopened.Recovery.DroppedRecords.Should().BeGreaterThan(0);
        reopened.Recovery.DroppedFile.Should().EndWith(Journal);
        reopened.Recovery.LastDroppedTransactionId.Should().Be(5);
    }
}
