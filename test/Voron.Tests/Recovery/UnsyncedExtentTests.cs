using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Recovery;

/// <summary>
/// A record is written beside the values that it names, so a power cut may leave the record without them: it then counts as torn, with all
/// records after it. Once a later record or a seal says that it was durable, missing values are damage.
/// </summary>
public sealed class UnsyncedExtentTests
{
    private const string Data = "voron.data";

    [Theory]
    [InlineData(20_000)]
    [InlineData(65_536)]
    [InlineData(300_000)]
    [InlineData(40_000_000)]
    public void A_last_record_whose_value_was_lost_is_dropped(int length)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i < 3; i++)
            FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 500 + i * 20_000));
        FaultTestKit.Put(environment, 3, FaultTestKit.Value(3, length));
        var cut = LastSync(disk);

        using (var lost = StorageEnvironment.Open(new CrashImages(disk).BuildLost(cut), FaultTestKit.Options()))
        {
            lost.Recovery.TransactionId.Should().Be(3);
            lost.Recovery.DroppedRecords.Should().Be(1);
            lost.Recovery.FirstDroppedTransactionId.Should().Be(4);
            for (var i = 0; i < 3; i++)
                FaultTestKit.Get(lost, i).Should().Equal(FaultTestKit.Value(i, 500 + i * 20_000));
            FaultTestKit.Get(lost, 3).Should().BeNull();
            lost.Verify().Problems.Should().BeEmpty();
            FaultTestKit.Put(lost, 3, FaultTestKit.Value(5, length));
            FaultTestKit.Get(lost, 3).Should().Equal(FaultTestKit.Value(5, length));
        }

        using var kept = StorageEnvironment.Open(new CrashImages(disk).BuildKept(cut), FaultTestKit.Options());
        kept.Recovery.DroppedRecords.Should().Be(0);
        FaultTestKit.Get(kept, 3).Should().Equal(FaultTestKit.Value(3, length));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_dropped_record_does_not_come_back_when_its_value_is_written_again(bool endsWithMarker)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 0, FaultTestKit.Value(0, 500));
        if (endsWithMarker)
            environment.Internals.ConfirmDurability();
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100_000));
        var second = new CrashImages(disk).BuildLost(LastSync(disk));
        using var reopened = StorageEnvironment.Open(second, FaultTestKit.Options());
        reopened.Recovery.DroppedRecords.Should().Be(1);

        // The same bytes reach the same pages again, in a transaction that does not commit.
        using var writing = reopened.BeginWrite();
        writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), FaultTestKit.Value(1, 100_000));
        writing.OpenTree(FaultTestKit.TreeName).Get(FaultTestKit.Key(1)).Should().Equal(FaultTestKit.Value(1, 100_000));
        using var third = StorageEnvironment.Open(new CrashImages(second).BuildKilled(second.TraceCount), FaultTestKit.Options());
        FaultTestKit.Get(third, 0).Should().NotBeNull();
        FaultTestKit.Get(third, 1).Should().BeNull("the opening before has said that it was dropped");
    }

    [Fact]
    public async Task The_records_behind_one_whose_value_was_lost_are_dropped_too()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 0, FaultTestKit.Value(0, 500));
        using var isWriting = new ManualResetEventSlim();
        using var mayEnd = new ManualResetEventSlim();
        disk.InProgress = _ =>
        {
            isWriting.Set();
            mayEnd.Wait(TestWait.Limit);
        };
        var commits = new List<Task> { CommitAsync(environment, 1, 500) };
        isWriting.Wait(TestWait.Limit, TestContext.Current.CancellationToken).Should().BeTrue();
        disk.InProgress = null;

        // The next write has all of these records.
        for (var i = 2; i < 6; i++)
            commits.Add(CommitAsync(environment, i, i % 2 == 0 ? 500 : 100_000));
        mayEnd.Set();
        await Task.WhenAll(commits);

        using var lost = StorageEnvironment.Open(new CrashImages(disk).BuildLost(LastSync(disk)), FaultTestKit.Options());
        lost.Recovery.TransactionId.Should().Be(3);
        lost.Recovery.DroppedRecords.Should().Be(3);
        lost.Recovery.LastDroppedTransactionId.Should().Be(6);
        for (var i = 0; i < 6; i++)
            (FaultTestKit.Get(lost, i) != null).Should().Be(i < 3);
    }

    [Fact]
    public void A_value_lost_after_a_record_or_a_seal_said_that_it_was_durable_is_damage()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 0, FaultTestKit.Value(0, 500));
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100_000));
        var recovered = new CrashImages(disk).BuildKept(disk.TraceCount);
        var place = PlaceOf(recovered, FaultTestKit.Value(1, 100_000));
        var cut = recovered.TraceCount;
        using (var reopened = StorageEnvironment.Open(recovered, FaultTestKit.Options()))
            FaultTestKit.Put(reopened, 2, FaultTestKit.Value(2, 500));

        var (dropped, refused) = (0, 0);
        for (; cut <= recovered.TraceCount; cut++)
        {
            // The close flushes: from then on the journal is not read.
            var left = new CrashImages(recovered).BuildLost(cut);
            left.FlipBit(Data, place + 70_000, 5);
            try
            {
                using var opened = StorageEnvironment.Open(left, FaultTestKit.Options());
                if (opened.Recovery.DroppedRecords > 0)
                    dropped++;
                refused.Should().Be(opened.Recovery.DroppedRecords > 0 ? 0 : refused, "what is damage stays damage");
            }
            catch (CorruptionException e)
            {
                e.Message.Should().Contain("Chunk 1").And.Contain(Data);
                refused++;
            }
        }

        dropped.Should().BePositive();
        refused.Should().BePositive();
    }

    private static Task CommitAsync(StorageEnvironment environment, int key, int length)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), FaultTestKit.Value(key, length));
        return writing.CommitAsync().AsTask();
    }

    private static int LastSync(SimulatedDisk disk)
    {
        for (var i = disk.TraceCount - 1; i >= 0; i--)
        {
            if (disk.Trace(i).Kind == TraceKind.Sync && disk.Trace(i).File == disk.FileOf(Data))
                return i;
        }

        throw new InvalidOperationException("The data file was never synced.");
    }

    private static long PlaceOf(SimulatedDisk disk, byte[] value)
    {
        var place = disk.Contents(Data).AsSpan().IndexOf(value.AsSpan(0, 64));
        place.Should().BePositive();
        return place;
    }
}
