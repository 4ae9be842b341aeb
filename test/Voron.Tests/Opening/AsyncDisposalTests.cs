using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Tests.Transactions;

namespace Voron.Tests.Opening;

/// <summary>Closing in the background: no caller waits on its thread, and each has one close to wait for.</summary>
public sealed class AsyncDisposalTests
{
    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task The_directory_can_be_opened_again_when_the_task_completes()
    {
        using var directory = new TemporaryDirectory();
        for (var i = 0; i < 5; i++)
        {
            await using var environment = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
            FaultTestKit.Put(environment, i, [(byte)i]);
            environment.Recovery.ReplayedRecords.Should().Be(0, "it was flushed and closed");
        }

        using var last = StorageEnvironment.Open(directory.Path, FaultTestKit.Options());
        for (var i = 0; i < 5; i++)
            FaultTestKit.Get(last, i).Should().Equal((byte)i);
    }

    [Fact]
    public async Task Neither_the_caller_nor_the_pool_waits_for_the_device()
    {
        using var isWriting = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        var disk = new SimulatedDisk();
        var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 300));
        Thread? closing = null;
        disk.InProgress = _ =>
        {
            closing ??= Thread.CurrentThread;
            isWriting.Set();
            mayGoOn.Wait(TestWait.Limit).Should().BeTrue();
        };
        var task = environment.DisposeAsync();
        isWriting.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        task.IsCompleted.Should().BeFalse("the device has not answered");
        closing!.IsThreadPoolThread.Should().BeFalse();
        closing.Should().NotBeSameAs(Thread.CurrentThread);
        FluentActions.Invoking(() => environment.BeginWrite()).Should().Throw<ObjectDisposedException>();

        // Another call neither closes it again nor waits on its thread.
        environment.Dispose();
        var second = environment.DisposeAsync();
        second.IsCompleted.Should().BeFalse();
        mayGoOn.Set();
        await task.AsTask().WaitAsync(TestWait.Limit, Cancellation);
        await second.AsTask().WaitAsync(TestWait.Limit, Cancellation);
        disk.InProgress = null;
        disk.HeldLocks.Should().Be(0);
        await environment.DisposeAsync().AsTask().WaitAsync(TestWait.Limit, Cancellation);
        using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Get(reopened, 1).Should().Equal(FaultTestKit.Value(1, 300));
    }

    [Fact]
    public async Task A_close_that_another_thread_has_begun_can_be_awaited()
    {
        using var journal = new HeldJournal();
        var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        FaultTestKit.Put(environment, 1, [1]);
        journal.Hold();
        var thread = new TestThread(environment.Dispose);
        journal.WaitUntilHeld();
        var task = environment.DisposeAsync().AsTask();
        task.IsCompleted.Should().BeFalse();
        journal.Release();
        await task.WaitAsync(TestWait.Limit, Cancellation);
        thread.Join().Should().BeNull();
        journal.Disk.HeldLocks.Should().Be(0);
    }

    [Fact]
    public async Task Calls_from_many_threads_close_it_once()
    {
        for (var round = 0; round < 20; round++)
        {
            var disk = new SimulatedDisk();
            var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
            FaultTestKit.Put(environment, round, [1]);
            using var start = new Barrier(4);
            var calls = Enumerable.Range(0, 4).Select(i => Task.Factory.StartNew(
                async () =>
                {
                    start.SignalAndWait(TestWait.Limit).Should().BeTrue();
                    if (i == 0)
                        environment.Dispose();
                    else
                        await environment.DisposeAsync();
                    return i == 0 || disk.HeldLocks == 0;
                },
                Cancellation, TaskCreationOptions.LongRunning, TaskScheduler.Default).Unwrap()).ToList();
            (await Task.WhenAll(calls).WaitAsync(TestWait.Limit, Cancellation))
                .Should().AllBeEquivalentTo(true, "each awaited call returns after the close");
            using var reopened = StorageEnvironment.Open(disk, FaultTestKit.Options());
            FaultTestKit.Get(reopened, round).Should().Equal(1);
        }
    }

    [Fact]
    public async Task Inside_an_operation_it_is_refused_and_the_environment_stays_open()
    {
        await using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        environment.Write(writing =>
        {
            writing.CreateTree("t");
            FluentActions.Invoking(() => environment.DisposeAsync()).Should().Throw<InvalidOperationException>().WithMessage("DisposeAsync *");
        });
        environment.BeginRead().Dispose();
    }

    [Fact]
    public async Task An_open_reader_can_be_used_until_it_ends()
    {
        var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var reading = environment.BeginRead();
        await environment.DisposeAsync();
        reading.OpenTree(FaultTestKit.TreeName).Contains(FaultTestKit.Key(1)).Should().BeTrue();
        reading.Dispose();
        FluentActions.Invoking(() => environment.BeginRead())
            .Should().Throw<ObjectDisposedException>().WithMessage("The environment in * is closed.*");
    }

    [Fact]
    public async Task An_environment_that_was_opened_for_reading_is_closed_as_well()
    {
        var disk = new SimulatedDisk();
        using (var made = StorageEnvironment.Open(disk, FaultTestKit.Options()))
            FaultTestKit.Put(made, 1, [1]);
        var environment = StorageEnvironment.Open(disk, new StorageOptions { ReadOnly = true });
        await environment.DisposeAsync();
        disk.HeldLocks.Should().Be(0);
    }
}
