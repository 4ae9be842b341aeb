using Voron.Simulation.Disks;
using Voron.Testing;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>A read transaction that could not be begun leaves nothing behind.</summary>
public sealed class ReaderPoolTests
{
    /// <summary>Such a transaction stayed counted: the files of the environment were never closed, and its slots were used up.</summary>
    [Theory]
    [InlineData("StateCopied")]
    [InlineData("SlotStored")]
    [InlineData("SnapshotConfirmed")]
    public void A_transaction_that_fails_as_it_begins_leaves_nothing(string place)
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var schedule = new ThrowingSchedule(Enum.Parse<SchedulePlace>(place));
        SchedulePoint.Current = schedule;
        try
        {
            // More than there are slots for readers.
            for (var i = 0; i < 70_000; i++)
                Thrown(environment).Should().BeTrue();
        }
        finally
        {
            SchedulePoint.Current = null;
        }

        schedule.Thrown.Should().Be(70_000);
        environment.GetStatistics().OpenReaders.Should().Be(0);
        FaultTestKit.Get(environment, 1).Should().Equal(1);

        // No reader holds the versions of overwritten pages.
        FaultTestKit.Put(environment, 1, [2]);
        environment.Flush()!.Value.TransactionId.Should().Be(2);
        environment.Dispose();
        disk.HeldLocks.Should().Be(0);
        disk.OpenFiles.Should().Be(0);
    }

    private static bool Thrown(StorageEnvironment environment)
    {
        try
        {
            environment.BeginRead().Dispose();
            return false;
        }
        catch (InsufficientMemoryException)
        {
            return true;
        }
    }

    private sealed class ThrowingSchedule(SchedulePlace at) : SystemSchedule
    {
        public int Thrown { get; private set; }

        public override void Reach(SchedulePlace place)
        {
            if (place != at)
                return;
            Thrown++;
            throw new InsufficientMemoryException("a planted fault");
        }
    }
}
