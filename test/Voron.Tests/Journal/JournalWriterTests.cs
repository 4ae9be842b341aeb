using Microsoft.Extensions.Logging.Abstractions;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Primitives;
using Voron.Simulation.Disks;

namespace Voron.Tests.Journal;

public sealed class JournalWriterTests
{
    private static readonly RandomId Id = new(0, 1);

    [Fact]
    public async Task Poisoning_drops_queued_records_and_fails_all_their_waiters()
    {
        var disk = new SimulatedDisk();
        var poison = new PoisonState("test");
        using var files = new JournalFileSet(disk, Id, 4096, 65536, 65536, NullLogger.Instance);
        var resources = new JournalResources(BlockMemory.Unlimited, TimeSpan.FromSeconds(30), TimeSpan.FromSeconds(1), OverlapsSyncs: false);
        using var journal = new JournalWriter(files, poison, new Listener(), Id, new JournalStart(default, []), resources);
        Submit(journal, null);
        journal.Drain();

        using var written = new ManualResetEventSlim();
        using var release = new ManualResetEventSlim();
        disk.InProgress = _ =>
        {
            written.Set();
            release.Wait();
        };
        var first = Submit(journal, null);
        var leading = Task.Run(() => journal.WaitUntilDurable(first), TestContext.Current.CancellationToken);
        written.Wait(TestContext.Current.CancellationToken);
        var completion = CommitCompletion.Rent();
        var awaited = completion.Task.AsTask();
        Submit(journal, completion);
        journal.WriteInBackground();
        var last = Submit(journal, null);

        // Poisons as a failed sync of the data file does.
        poison.Set(new IOException("a sync failed"));
        disk.InProgress = null;
        release.Set();
        await leading;
        var failed = awaited.Awaiting(task => task.WaitAsync(TestWait.Limit));
        var outcome = (await failed.Should().ThrowAsync<EnvironmentPoisonedException>()).Which;
        outcome.Outcome.Should().Be(CommitOutcome.NotCommitted);
        journal.Invoking(writer => writer.WaitUntilDurable(last)).Should().Throw<EnvironmentPoisonedException>()
            .Which.Outcome.Should().Be(CommitOutcome.NotCommitted);
        journal.DurableSequence.Should().Be(first);
    }

    [Fact]
    public void A_completion_asked_too_early_or_twice_stays_the_journals()
    {
        var completion = CommitCompletion.Rent();
        var task = completion.Task;
        var ask = () => task.GetAwaiter().GetResult();
        ask.Should().Throw<InvalidOperationException>();
        Enumerable.Range(0, 100).Select(_ => CommitCompletion.Rent()).Should().NotContain(completion);

        completion.SetResult();
        ask.Should().NotThrow();
        ask.Should().Throw<InvalidOperationException>();
        Enumerable.Range(0, 100).Count(_ => CommitCompletion.Rent() == completion).Should().BeLessThanOrEqualTo(1);
    }

    [Fact]
    public void A_commit_without_a_record_is_not_acknowledged_before_those_that_it_read()
    {
        var listener = new Listener();
        using var files = new JournalFileSet(new SimulatedDisk(), Id, 4096, 65536, 65536, NullLogger.Instance);
        using var journal = new JournalWriter(files, new PoisonState("test"), listener, Id, new JournalStart(default, []), new JournalResources(BlockMemory.Unlimited, TimeSpan.FromSeconds(30), TimeSpan.FromSeconds(1), OverlapsSyncs: false));
        var first = CommitCompletion.Rent();
        var second = CommitCompletion.Rent();
        var empty = CommitCompletion.Rent();
        var (firstTask, secondTask, emptyTask) = (first.Task, second.Task, empty.Task);
        var read = Submit(journal, first);
        var last = Submit(journal, second);
        var wasEarly = true;
        listener.Durable = sequence =>
        {
            // The first record is durable and published, but not yet acknowledged.
            if (sequence != last)
                return;
            journal.DurableSequence.Should().Be(read);
            journal.CompleteWhenDurable(read, empty);
            wasEarly = emptyTask.IsCompleted && !firstTask.IsCompleted;
        };

        journal.Drain();

        wasEarly.Should().BeFalse();
        (firstTask.IsCompleted, secondTask.IsCompleted, emptyTask.IsCompleted).Should().Be((true, true, true));
        var later = CommitCompletion.Rent();
        var laterTask = later.Task;
        journal.CompleteWhenDurable(last, later);
        laterTask.IsCompleted.Should().BeTrue("all records have been acknowledged");
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_record_with_unsynced_extents_is_durable_after_both_its_write_and_the_sync(bool overlaps)
    {
        var disk = new SimulatedDisk();
        var listener = new Listener();
        using var files = new JournalFileSet(disk, Id, 4096, 65536, 65536, NullLogger.Instance);
        var resources = new JournalResources(BlockMemory.Unlimited, TimeSpan.FromSeconds(30), TimeSpan.FromSeconds(1), overlaps);
        using var journal = new JournalWriter(files, new PoisonState("test"), listener, Id, new JournalStart(default, []), resources);
        var (durable, syncs) = (0L, 0);
        using var begun = new ManualResetEventSlim();
        listener.Durable = sequence => durable = sequence;
        listener.Syncing = () =>
        {
            begun.Set();
            TestWait.GiveTimeFor(() => durable == journal.SubmittedSequence);
            durable.Should().Be(journal.DurableSequence).And.BeLessThan(journal.SubmittedSequence);
            syncs++;
        };

        for (var i = 1; i <= 3; i++)
        {
            Submit(journal, null);
            journal.Drain();
            syncs.Should().Be(i - 1, "the record names no extents");

            // A write that ends only after the sync has begun: where they overlap, on another thread.
            disk.InProgress = overlaps ? _ => begun.Wait(TestWait.Limit).Should().BeTrue() : null;
            var sequence = Submit(journal, null, RecordFlags.ExtentsUnsynced);
            journal.Drain();
            disk.InProgress = null;
            begun.Reset();
            syncs.Should().Be(i);
            durable.Should().Be(sequence);
        }
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public void A_sync_or_a_write_that_fails_beside_the_other_poisons_after_both_have_ended(bool overlaps, bool failsWrite)
    {
        var disk = new SimulatedDisk();
        var poison = new PoisonState("test");
        var listener = new Listener();
        using var files = new JournalFileSet(disk, Id, 4096, 65536, 65536, NullLogger.Instance);
        var resources = new JournalResources(BlockMemory.Unlimited, TimeSpan.FromSeconds(30), TimeSpan.FromSeconds(1), overlaps);
        using var journal = new JournalWriter(files, poison, listener, Id, new JournalStart(default, []), resources);
        var first = Submit(journal, null);
        journal.Drain();
        var isOver = false;
        listener.Syncing = () =>
        {
            TestWait.GiveTimeFor(() => poison.IsPoisoned);
            isOver = true;
            if (!failsWrite)
                throw new IOException("the sync failed");
        };
        if (failsWrite)
            disk.FailNext(call => call.Kind == DiskCallKind.Write, DiskError.Failed);

        var sequence = Submit(journal, null, RecordFlags.ExtentsUnsynced);
        journal.Invoking(writer => writer.WaitUntilDurable(sequence)).Should().Throw<Exception>();

        isOver.Should().BeTrue("no sync may be under way when the journal is closed");
        poison.IsPoisoned.Should().BeTrue();
        journal.DurableSequence.Should().Be(first);
        journal.Invoking(writer => writer.WaitUntilDurable(sequence)).Should().Throw<EnvironmentPoisonedException>()
            .Which.Outcome.Should().Be(CommitOutcome.Unknown);
    }

    private static long Submit(JournalWriter journal, CommitCompletion? completion, RecordFlags flags = RecordFlags.None)
    {
        var entry = journal.Rent();
        new RecordBuilder(entry, RecordKind.DurabilityMarker, JournalFormat.Version1).Finish(default, null);
        SetFlags(entry, flags);
        entry.Completion = completion;
        return journal.Submit(entry, default(JournalReserve));
    }

    private static unsafe void SetFlags(RecordBuffer entry, RecordFlags flags) => entry.Header->Flags = flags;

    private sealed class Listener : IJournalListener
    {
        public Action<long>? Durable { get; set; }

        public Action? Syncing { get; set; }

        public void SyncExtents() => Syncing?.Invoke();

        public void OnRecordDurable(RecordBuffer entry) => Durable?.Invoke(entry.Sequence);

        public bool IsNext(RecordBuffer entry) => true;

        public void Publish(RecordBuffer entry)
        {
        }
    }
}
