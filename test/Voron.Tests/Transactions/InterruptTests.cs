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
public sealed class InterruptTests
{
    private static readonly TimeSpan Patience = HeldJournal.Patience;

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
            SpinWait.SpinUntil(() => environment.GetStatistics().QueuedOperations == 1, Patience).Should().BeTrue();
            neighbours = Enumerable.Range(4, 5).Select(i => environment.WriteAsync(writing => Put(writing, i, 50), Cancellation).AsTask()).ToArray();
            journal.Disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace);
            journal.Disk.FailNext(call => call.Kind == DiskCallKind.Create, DiskError.NoSpace);
            older = journal.CommitHeld(before, 2);
        }

        SpinWait.SpinUntil(() => journal.Disk.LastFault != null, Patience).Should().BeTrue("the leader has to find no room");
        leader.WaitUntilBlockedOrEnded();
        leader.Interrupt();
        Thread.Sleep(50);
        journal.GoOn();
        leader.Join().Should().BeNull();
        await older.WaitAsync(Patience, Cancellation);
        foreach (var neighbour in neighbours)
            await neighbour.WaitAsync(Patience, Cancellation);
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
            SpinWait.SpinUntil(() => environment.GetStatistics().QueuedOperations == 1, Patience).Should().BeTrue();
            neighbour = environment.WriteAsync(
                writing =>
                {
                    runs++;
                    Put(writing, 3, 10);
                    isRunning.Set();
                    mayGoOn.Wait(Patience);
                    Put(writing, 4, 10);
                },
                Cancellation).AsTask();
        }

        isRunning.Wait(Patience, Cancellation).Should().BeTrue();
        leader.WaitUntilBlockedOrEnded();
        leader.Interrupt();
        SpinWait.SpinUntil(() => Volatile.Read(ref runs) == 2 || neighbour.IsCompleted, Patience).Should().BeTrue();
        mayGoOn.Set();
        leader.Join().Should().BeNull();
        await neighbour.WaitAsync(Patience, Cancellation);
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
        Thread.Sleep(50);
        journal.GoOn();
        thread.Join().Should().BeNull();
        await older.WaitAsync(Patience, Cancellation);
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
            var end = Environment.TickCount64 + 3_000;
            var threads = Enumerable.Range(0, acknowledged.Length).Select(index => new TestThread(() =>
            {
                for (var i = 0; Environment.TickCount64 < end; i++)
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
            InterruptUntil(end, threads);
            environment.GetStatistics().IsPoisoned.Should().BeFalse();
        }

        acknowledged.Sum().Should().BeGreaterThan(100);
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
        var end = Environment.TickCount64 + 2_000;
        var committed = 0;
        var threads = Enumerable.Range(0, 4).Select(index => new TestThread(() =>
        {
            for (var i = 0; Environment.TickCount64 < end; i++)
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
        InterruptUntil(end, threads);
        committed.Should().BeGreaterThan(100);
        using var last = environment.BeginWrite(TimeSpan.FromSeconds(5), TestContext.Current.CancellationToken);
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
        SpinWait.SpinUntil(() => !held.IsSet, Patience);
    }

    private static void ShouldStay(Action take, Action hold, ManualResetEventSlim held)
    {
        var wasInterrupted = false;
        var holder = new TestThread(hold);
        held.Wait(Patience, Cancellation).Should().BeTrue();
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

    private static void InterruptUntil(long end, TestThread[] threads)
    {
        while (Environment.TickCount64 < end)
        {
            foreach (var thread in threads)
                thread.Interrupt();
            Thread.Yield();
        }

        foreach (var thread in threads)
            thread.Join().Should().BeNull();
    }
}
