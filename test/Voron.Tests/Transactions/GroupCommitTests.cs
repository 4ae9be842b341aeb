using Microsoft.Extensions.Time.Testing;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;
using Voron.Tests.Journal;

namespace Voron.Tests.Transactions;

/// <summary>Operations in a group commit do not affect each other: none fails, waits or changes because of the others.</summary>
public sealed class GroupCommitTests
{
    // Operations that are queued together run together, however slow the machine is.
    private static readonly StorageOptions Options = new() { BackgroundFlush = false, MaxGroupCommitDuration = TimeSpan.FromMinutes(1) };

    private static readonly StorageOptions SmallTransactions = new()
    {
        BackgroundFlush = false,
        MaxTransactionBytes = 1 << 20,
        MaxGroupCommitDuration = TimeSpan.FromMinutes(1),
    };

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    [Fact]
    public async Task Operations_that_fit_alone_all_succeed_when_they_are_queued_together()
    {
        using var environment = StorageEnvironment.OpenInMemory(SmallTransactions);
        var tasks = QueueTogether(environment, 40, (writing, i) => PutMany(writing, i, 40));
        foreach (var task in tasks)
            await task.WaitAsync(TestWait.Limit, Cancellation);
        using var reading = environment.BeginRead();
        reading.OpenTree(FaultTestKit.TreeName).Count.Should().Be(40 * 40);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task A_task_that_is_awaited_or_converted_twice_refuses_and_serves_the_first_caller()
    {
        using var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, Options);
        environment.Write(writing => { writing.CreateTree(FaultTestKit.TreeName); });
        var writes = new HeldWrites(disk);
        var write = environment.WriteAsync(
            writing => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(1), FaultTestKit.Value(1, 100)), Cancellation);
        var task = write.AsTask();
        FluentActions.Invoking(() => { _ = write.AsTask(); }).Should().Throw<InvalidOperationException>().WithMessage("*twice*");
        await FluentActions.Awaiting(async () => await write).Should().ThrowAsync<InvalidOperationException>().WithMessage("*twice*");
        writes.Release();
        await task.WaitAsync(TestWait.Limit, Cancellation);
        disk.InProgress = null;
    }

    [Fact]
    public async Task An_operation_that_hides_the_limit_it_met_is_run_again_too()
    {
        using var environment = StorageEnvironment.OpenInMemory(SmallTransactions);
        var tasks = QueueTogether(environment, 40, (writing, i) =>
        {
            try
            {
                PutMany(writing, i, 40);
            }
            catch (StorageFullException e) when (i % 2 == 0)
            {
                throw new InvalidDataException("wrapped", e);
            }
            catch (StorageFullException)
            {
            }
        });
        foreach (var task in tasks)
            await task.WaitAsync(TestWait.Limit, Cancellation);
        using var reading = environment.BeginRead();
        reading.OpenTree(FaultTestKit.TreeName).Count.Should().Be(40 * 40);
    }

    [Fact]
    public async Task An_operation_that_is_too_large_for_a_transaction_fails_alone_and_runs_twice_at_most()
    {
        using var environment = StorageEnvironment.OpenInMemory(SmallTransactions);
        var runs = 0;
        var tasks = QueueTogether(environment, 5, (writing, i) =>
        {
            if (i == 2)
                runs++;
            PutMany(writing, i, i == 2 ? 1000 : 5);
        });
        for (var i = 0; i < tasks.Length; i++)
        {
            if (i == 2)
                await FluentActions.Awaiting(() => tasks[2].WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<StorageFullException>();
            else
                await tasks[i].WaitAsync(TestWait.Limit, Cancellation);
        }

        runs.Should().BeInRange(1, 2);
        using var reading = environment.BeginRead();
        reading.OpenTree(FaultTestKit.TreeName).Count.Should().Be(4 * 5);
    }

    [Fact]
    public async Task A_batch_whose_record_finds_no_room_is_tried_again_in_parts()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 9999, [1]);
        var small = FaultTestKit.Value(1, 6000);
        disk.SpaceLimit = disk.UsedBytes;
        var tasks = QueueTogether(environment, 16, (writing, i) => writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(i), small));
        var failed = 0;
        for (var i = 0; i < tasks.Length; i++)
        {
            try
            {
                await tasks[i].WaitAsync(TestWait.Limit, Cancellation);
                FaultTestKit.Get(environment, i).Should().Equal(small);
            }
            catch (StorageFullException)
            {
                failed++;
                FaultTestKit.Get(environment, i).Should().BeNull("its caller got an exception");
            }
        }

        // The journal file of 64 KiB has room for some of them, but not for all.
        failed.Should().BeInRange(1, 14);
        disk.SpaceLimit = long.MaxValue;
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public async Task Operations_that_throw_end_a_batch_like_others()
    {
        const int Throwing = 10_000;
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        var ids = new long[Throwing];
        var tasks = QueueTogether(environment, Throwing, (writing, i) =>
        {
            ids[i] = writing.TransactionId;
            writing.CreateTree("t");
            if (i > 0)
                throw new InvalidDataException();
        });
        await tasks[0].WaitAsync(TestWait.Limit, Cancellation);
        await Task.WhenAll(tasks).WaitAsync(TestWait.Limit, Cancellation)
            .ContinueWith(_ => { }, Cancellation, TaskContinuationOptions.None, TaskScheduler.Default);
        tasks.Count(task => task.Exception?.InnerException is InvalidDataException).Should().Be(Throwing - 1);
        ids.Count(id => id == ids[0]).Should().BeInRange(1, 4096, "the first operation must not wait for all that come after it");
    }

    [Fact]
    public async Task An_operation_that_runs_long_ends_its_batch()
    {
        var clock = new FakeTimeProvider();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions
        {
            BackgroundFlush = false,
            MaxGroupCommitDuration = TimeSpan.FromSeconds(1),
            CommitClock = clock,
        });
        var ids = new long[3];
        var tasks = QueueTogether(environment, 3, (writing, i) =>
        {
            ids[i] = writing.TransactionId;
            writing.CreateTree($"t{i}");
            clock.Advance(TimeSpan.FromSeconds(i == 1 ? 0.6 : 0.4));
        });
        foreach (var task in tasks)
            await task.WaitAsync(TestWait.Limit, Cancellation);
        ids[1].Should().Be(ids[0]);
        ids[2].Should().Be(ids[0] + 1, "those before and at the long operation need not wait for the one after it");
    }

    [Fact]
    public async Task An_operation_fails_only_after_the_data_that_it_read_is_durable()
    {
        using var journal = new HeldJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, HeldJournal.Options());
        FaultTestKit.Put(environment, 1, [1]);
        journal.Hold();
        var tasks = QueueTogether(environment, 2, (writing, i) =>
        {
            if (!writing.OpenTree(FaultTestKit.TreeName).Insert(FaultTestKit.Key(2), [2]))
                throw new InvalidDataException("It already exists.");
        });
        var wasHeld = true;
        var failed = tasks[1].ContinueWith(
            _ => wasHeld = journal.IsHeld, Cancellation, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
        journal.WaitUntilHeld();
        await TestWait.GiveTimeForAsync(() => failed.IsCompleted);
        journal.Release();
        await tasks[0].WaitAsync(TestWait.Limit, Cancellation);
        await FluentActions.Awaiting(() => tasks[1].WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<InvalidDataException>();
        await failed;
        wasHeld.Should().BeFalse("the caller takes the entry for durable, and it was not yet written");
    }

    [Fact]
    public async Task A_transaction_of_one_operation_is_of_no_use_to_another()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options);
        var kept = default(WriteTransaction);
        Exception? inNext = null;
        var late = Task.CompletedTask;
        using var hasEnded = new ManualResetEventSlim();
        var tasks = QueueTogether(environment, 3, (writing, i) =>
        {
            switch (i)
            {
                case 0:
                    kept = writing;
                    writing.CreateTree("first");
                    break;
                case 1:
                    inNext = Record(() => kept.CreateTree("of another operation"));
                    late = Task.Run(
                        () =>
                        {
                            hasEnded.Wait(TestWait.Limit);
                            writing.CreateTree("too late");
                        },
                        CancellationToken.None);
                    break;
                default:
                    hasEnded.Set();
                    Record(() => late.Wait(TestWait.Limit));
                    writing.CreateTree("third");
                    break;
            }
        });
        foreach (var task in tasks)
            await task.WaitAsync(TestWait.Limit, Cancellation);
        inNext.Should().BeOfType<ObjectDisposedException>();
        await FluentActions.Awaiting(() => late.WaitAsync(TestWait.Limit, Cancellation)).Should().ThrowAsync<ObjectDisposedException>();
        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().Equal("first", "third");
    }

    /// <summary>Queues operations while the writer is taken, so that they wait together.</summary>
    internal static Task[] QueueTogether(StorageEnvironment environment, int count, Action<WriteTransaction, int> operation)
    {
        using (environment.BeginWrite())
        {
            return Enumerable.Range(0, count)
                .Select(i => environment.WriteAsync(writing => operation(writing, i), Cancellation).AsTask())
                .ToArray();
        }
    }

    private static void PutMany(WriteTransaction writing, int operation, int count)
    {
        var tree = writing.CreateTree(FaultTestKit.TreeName);
        for (var i = 0; i < count; i++)
            tree.Put(FaultTestKit.Key((operation * 1000) + i), FaultTestKit.Value(i, 2000));
    }

    private static Exception? Record(Action action)
    {
        try
        {
            action();
            return null;
        }
        catch (Exception e)
        {
            return e;
        }
    }
}
