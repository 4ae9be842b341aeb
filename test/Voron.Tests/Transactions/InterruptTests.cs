using Voron.IO;
using Voron.Primitives;
using Voron.Simulation.Disks;
using Voron.Simulation.Harness;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// <see cref="Thread.Interrupt"/> on a thread that is in a call: the call ends as it would have anyway, and the thread is interrupted after
/// it.
/// </summary>
[Quick]
public sealed class InterruptTests
{
    private const int CommitsOfThread = 50;

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    /// <summary>The leader waits inside the submission for an older record; its interruption failed all operations that it leads.</summary>
    [Fact]
    public async Task A_leader_that_is_interrupted_while_it_submits_fails_none_of_its_neighbours()
    {
        using var journal = new FailingJournal();
        using var environment = StorageEnvironment.Open(
            journal.Disk,
            new StorageOptions
            {
                BackgroundFlush = false,
                InitialJournalFileBytes = 64 << 10,
                MaxJournalFileBytes = 256 << 10,
                JournalCompression = JournalCompression.Never,
                MaxGroupCommitDuration = TimeSpan.FromMinutes(1),
            });
        FaultTestKit.Put(environment, 1, [1]);
        Exception? failure = null;
        var wasInterrupted = false;
        TestThread leader;
        Task[] neighbours;
        Task older;
        using (var before = environment.BeginWrite())
        {
            leader = new TestThread(() =>
            {
                failure = Record.Exception(() => environment.Write(writing => OutcomeTests.PutMany(writing, 200_000)));
                wasInterrupted = TestThread.IsInterrupted();
            });
            TestWait.Until(() => environment.GetStatistics().QueuedOperations == 1);
            neighbours = Enumerable.Range(4, 5).Select(i => environment.WriteAsync(writing => Put(writing, i, 50), Cancellation).AsTask()).ToArray();
            journal.Disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace);
            journal.Disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace);
            older = journal.CommitHeld(before, 2);
        }

        TestWait.Until(() => journal.Disk.LastFault != null, "the leader has to find no room");
        leader.WaitUntilBlockedOrEnded();
        leader.Interrupt();
        leader.WaitUntilBlockedOrEnded();
        journal.GoOn();
        leader.Join().Should().BeNull();
        await older.WaitAsync(TestWait.Limit, Cancellation);
        foreach (var neighbour in neighbours)
            await neighbour.WaitAsync(TestWait.Limit, Cancellation);
        failure.Should().BeNull();
        wasInterrupted.Should().BeTrue("the interruption comes after the call");
        for (var i = 4; i < 9; i++)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, 50));
        environment.GetStatistics().IsPoisoned.Should().BeFalse();
    }

    /// <summary>The leader runs the operations of other callers, for which the interruption is not meant.</summary>
    [Fact]
    public async Task A_leader_that_is_interrupted_in_the_operation_of_another_fails_it_not()
    {
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, MaxGroupCommitDuration = TimeSpan.FromMinutes(1) });
        FaultTestKit.Put(environment, 1, [1]);
        using var isRunning = new ManualResetEventSlim();
        using var mayGoOn = new ManualResetEventSlim();
        var wasInterrupted = false;
        var runs = 0;
        TestThread leader;
        Task neighbour;
        using (environment.BeginWrite())
        {
            leader = new TestThread(() =>
            {
                environment.Write(writing => Put(writing, 2, 10));
                wasInterrupted = TestThread.IsInterrupted();
            });
            TestWait.Until(() => environment.GetStatistics().QueuedOperations == 1);
            neighbour = environment.WriteAsync(
                writing =>
                {
                    runs++;
                    Put(writing, 3, 10);
                    isRunning.Set();
                    mayGoOn.Wait(TestWait.Limit);
                    Put(writing, 4, 10);
                },
                Cancellation).AsTask();
        }

        isRunning.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        leader.WaitUntilBlockedOrEnded();
        leader.Interrupt();
        TestWait.Until(() => Volatile.Read(ref runs) == 2 || neighbour.IsCompleted);
        mayGoOn.Set();
        leader.Join().Should().BeNull();
        await neighbour.WaitAsync(TestWait.Limit, Cancellation);
        runs.Should().Be(2, "it was undone and run again");
        wasInterrupted.Should().BeTrue();
        for (var i = 2; i < 5; i++)
            FaultTestKit.Get(environment, i).Should().Equal(FaultTestKit.Value(i, 10));
    }

    /// <summary>The record is on its way: an exception would not give the caller its outcome.</summary>
    [Fact]
    public async Task A_commit_that_is_interrupted_while_it_waits_for_the_journal_reports_its_outcome()
    {
        using var journal = new FailingJournal();
        using var environment = StorageEnvironment.Open(journal.Disk, FaultTestKit.Options());
        FaultTestKit.Put(environment, 1, [1]);
        var older = journal.CommitHeld(environment, 2);
        Exception? failure = null;
        var wasInterrupted = false;
        var thread = new TestThread(() =>
        {
            failure = Record.Exception(() => FaultTestKit.Put(environment, 3, [3]));
            wasInterrupted = TestThread.IsInterrupted();
        });
        thread.WaitUntilBlockedOrEnded();
        thread.Interrupt();
        thread.WaitUntilBlockedOrEnded();
        journal.GoOn();
        thread.Join().Should().BeNull();
        await older.WaitAsync(TestWait.Limit, Cancellation);
        failure.Should().BeNull();
        wasInterrupted.Should().BeTrue();
        FaultTestKit.Get(environment, 3).Should().Equal(3);
    }

    /// <summary>
    /// Threads that commit are interrupted all the time. Within the journal, an interruption left a record out, behind which a recovery
    /// finds nothing, or left a leader that never ended its turn.
    /// </summary>
    [Fact]
    public void Threads_that_are_interrupted_at_any_time_leave_a_journal_without_holes()
    {
        SkipOnWine();
        var disk = new SimulatedDisk();
        var acknowledged = new int[4];
        var oneAtATime = new Lock();
        var options = new StorageOptions { BackgroundFlush = false, InitialJournalFileBytes = 1 << 20, MaxJournalFileBytes = 8 << 20 };
        using (var environment = StorageEnvironment.Open(disk, options))
        {
            FaultTestKit.Put(environment, 1, [1]);
            var threads = Enumerable.Range(0, acknowledged.Length).Select(index => new TestThread(() =>
            {
                for (var i = 0; i < CommitsOfThread; i++)
                {
                    Task task = null!;

                    // The threads wait for the journal and its locks, never for the writer.
                    Uninterrupted.Run(() =>
                    {
                        using (Uninterrupted.Hold(oneAtATime))
                        {
                            using var writing = environment.BeginWrite();
                            writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key((index + 1) * 100_000 + i), FaultTestKit.Value(i, 50));
                            task = writing.CommitAsync().AsTask();
                        }
                    });
                    Uninterrupted.Run(task.Wait);
                    acknowledged[index] = i + 1;
                }

                TestThread.IsInterrupted();
            })).ToArray();
            InterruptUntilEnded(threads);
            environment.GetStatistics().IsPoisoned.Should().BeFalse();
        }

        acknowledged.Should().OnlyContain(count => count == CommitsOfThread);
        using var reopened = StorageEnvironment.Open(disk, options);
        for (var index = 0; index < acknowledged.Length; index++)
        {
            for (var i = 0; i < acknowledged[index]; i++)
                FaultTestKit.Get(reopened, (index + 1) * 100_000 + i).Should().Equal(FaultTestKit.Value(i, 50));
        }
    }

    /// <summary>
    /// A caller that waits for the writer gives up when it is interrupted, and the callers that wait beside it get the writer.
    /// </summary>
    [Fact]
    public void A_thread_that_is_interrupted_while_it_waits_for_the_writer_keeps_it_from_no_other()
    {
        SkipOnWine();
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false });
        FaultTestKit.Put(environment, 1, [1]);
        var committed = 0;
        var threads = Enumerable.Range(0, 4).Select(index => new TestThread(() =>
        {
            for (var i = 0; Volatile.Read(ref committed) < 4 * CommitsOfThread; i++)
            {
                try
                {
                    using var writing = environment.BeginWrite();
                    writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(index), FaultTestKit.Value(i, 50));
                    writing.Commit();
                    Interlocked.Increment(ref committed);
                }
                catch (ThreadInterruptedException)
                {
                    // It was waiting for the writer.
                }
            }

            TestThread.IsInterrupted();
        })).ToArray();
        InterruptUntilEnded(threads);
        committed.Should().BeGreaterThanOrEqualTo(4 * CommitsOfThread);
        using var last = environment.BeginWrite(TestWait.Limit, TestContext.Current.CancellationToken);
    }

    [Fact]
    public void A_lock_is_taken_all_the_same_and_the_interruption_stays()
    {
        var gate = new EngineLock(LockRank.Progress);
        using var held = new ManualResetEventSlim();
        ShouldStay(() => { using (gate.Enter()) { } }, () => { using (gate.Enter()) { Hold(held); } }, held);
        var monitor = new EngineMonitor(LockRank.Progress);
        ShouldStay(() => { using (monitor.Enter()) { } }, () => { using (monitor.Enter()) { Hold(held); } }, held);
    }

    // This happens even in a program of twenty lines that has nothing but monitors.
    private static void SkipOnWine() =>
        Assert.SkipWhen(WineFrames.IsWine, "interrupts threads while they handle exceptions, which ends the runtime on Wine");

    private static void Hold(ManualResetEventSlim held)
    {
        held.Set();
        TestWait.Until(() => !held.IsSet);
    }

    private static void ShouldStay(Action take, Action hold, ManualResetEventSlim held)
    {
        var wasInterrupted = false;
        var holder = new TestThread(hold);
        held.Wait(TestWait.Limit, Cancellation).Should().BeTrue();
        var thread = new TestThread(() =>
        {
            take();
            wasInterrupted = TestThread.IsInterrupted();
        });
        thread.WaitUntilBlockedOrEnded();
        thread.Interrupt();
        thread.WaitUntilBlockedOrEnded();
        held.Reset();
        thread.Join().Should().BeNull();
        holder.Join().Should().BeNull();
        wasInterrupted.Should().BeTrue();
    }

    private static void Put(WriteTransaction writing, int key, int length) =>
        writing.OpenTree(FaultTestKit.TreeName).Put(FaultTestKit.Key(key), FaultTestKit.Value(key, length));

    private static void InterruptUntilEnded(TestThread[] threads)
    {
        TestWait.WorkUntil(() => threads.All(thread => thread.HasEnded), () =>
        {
            foreach (var thread in threads)
                thread.Interrupt();
            Thread.Yield();
        });

        foreach (var thread in threads)
            thread.Join().Should().BeNull();
    }
}
