using Voron.Simulation.Disks;
using Voron.Testing;
using Voron.Tests.Faults;

namespace Voron.Tests.Opening;

/// <summary>When closing returns and no transaction is open, the files are closed: the directory can be opened again.</summary>
[Quick]
public sealed class LateUserTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    /// <summary>The late reader was counted before it was turned away, and closed the files when it checked again.</summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_call_that_comes_too_late_does_not_keep_the_files(bool reads)
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        using var schedule = new HoldingSchedule(SchedulePlace.Closing);
        var late = new TestThread(() =>
        {
            SchedulePoint.Current = schedule;
            if (reads)
                environment.BeginRead().Dispose();
            else
                environment.GetStatistics();
        });
        schedule.WaitUntilHeld();
        environment.Dispose();
        var held = (disk.HeldLocks, disk.OpenFiles);
        schedule.Release();
        late.Join().Should().BeOfType<ObjectDisposedException>();
        held.Should().Be((0, 0));
    }

    /// <summary>The transaction is no longer open, but has not yet been removed from the count.</summary>
    [Fact]
    public void A_write_transaction_that_has_just_released_the_writer_is_waited_for()
    {
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        using var schedule = new HoldingSchedule(SchedulePlace.WriterReleased);
        var ending = new TestThread(() =>
        {
            using var writing = environment.BeginWrite();
            SchedulePoint.Current = schedule;
        });
        schedule.WaitUntilHeld();
        var held = (-1, -1);
        var closing = new TestThread(() =>
        {
            environment.Dispose();
            held = (disk.HeldLocks, disk.OpenFiles);
        });
        closing.WaitUntilBlockedOrEnded();
        schedule.Release();
        ending.Join().Should().BeNull();
        closing.Join().Should().BeNull();
        held.Should().Be((0, 0));
    }

    /// <summary>Holds the thread that uses this schedule when it first reaches the given place.</summary>
    private sealed class HoldingSchedule(SchedulePlace at) : SystemSchedule, IDisposable
    {
        private readonly ManualResetEventSlim _isHeld = new();
        private readonly ManualResetEventSlim _mayGoOn = new();

        public void WaitUntilHeld() => _isHeld.Wait(TestWait.Limit, Cancellation).Should().BeTrue();

        public void Release() => _mayGoOn.Set();

        public override void Reach(SchedulePlace place)
        {
            if (place != at || _isHeld.IsSet)
                return;
            _isHeld.Set();
            _mayGoOn.Wait(TestWait.Limit).Should().BeTrue();
        }

        public void Dispose() => _mayGoOn.Set();
    }
}
