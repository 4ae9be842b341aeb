using System.Diagnostics;
using Microsoft.Extensions.Logging.Abstractions;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Primitives;
using Voron.Simulation.Disks;

namespace Voron.Tests.Journal;

/// <summary>The rules for a second journal write while one is under way.</summary>
public sealed class TwoWritesTests : IDisposable
{
    private static readonly RandomId Id = new(0, 1);

    private readonly SimulatedDisk _disk = new();
    private readonly PoisonState _poison = new("test");
    private readonly JournalFileSet _files;
    private readonly JournalWriter _journal;
    private readonly Listener _listener = new();
    private HeldWrites _writes;

    public TwoWritesTests()
    {
        _files = new JournalFileSet(_disk, Id, 4096, 65536, 65536, NullLogger.Instance);
        var resources = new JournalResources(BlockMemory.Unlimited, TimeSpan.FromSeconds(30), TimeSpan.FromSeconds(1), OverlapsSyncs: false);
        _journal = new JournalWriter(_files, _poison, _listener, Id, new JournalStart(default, []), resources) { OverlapsWrites = true };

        // The first record is followed by zeros to the end of the file.
        Submit();
        _journal.Drain();
        _writes = new HeldWrites(_disk);
    }

    public void Dispose()
    {
        _writes.Release();
        _journal.Dispose();
        _files.Dispose();
        _disk.InProgress = null;
    }

    [Fact]
    public async Task A_second_write_begins_before_the_first_has_ended_and_is_published_after_it()
    {
        var (first, second) = (Submit(), 0L);
        var one = Wait(first);
        _writes.Await(1);
        second = Submit();
        var two = Wait(second);
        _writes.Await(2);

        _writes.Release(1);
        TestWait.GiveTimeFor(() => two.IsCompleted);
        two.IsCompleted.Should().BeFalse("the first write is under way");
        _journal.DurableSequence.Should().Be(first - 1);

        _writes.Release(0);
        await one;
        await two;
        _journal.DurableSequence.Should().Be(second);
        _listener.Published.Should().Equal(1, first, second);
    }

    [Fact]
    public async Task A_third_write_waits_for_one_of_two()
    {
        var all = new List<Task> { Wait(Submit()) };
        _writes.Await(1);
        all.Add(Wait(Submit()));
        _writes.Await(2);
        all.Add(Wait(Submit()));
        TestWait.GiveTimeFor(() => _writes.Count > 2);
        _writes.Count.Should().Be(2);

        // The end of the second write alone makes no place: its leader waits for the first.
        _writes.Release(1);
        TestWait.GiveTimeFor(() => _writes.Count > 2);
        _writes.Count.Should().Be(2);
        _writes.Release();
        await Task.WhenAll(all);
        _listener.Published.Should().Equal(1, 2, 3, 4);
    }

    [Fact]
    public async Task Nothing_behind_a_failed_write_is_acknowledged()
    {
        var one = Wait(Submit());
        _writes.Await(1);
        var completion = CommitCompletion.Rent();
        var two = completion.Task.AsTask();
        Submit(completion);
        _journal.WriteInBackground();
        _writes.Await(2);
        var queued = Wait(Submit());

        _writes.Release(1);
        _writes.Fail(0);

        (await Outcome(one)).Should().Be(CommitOutcome.Unknown);
        (await Outcome(two)).Should().Be(CommitOutcome.Unknown, "its own write has succeeded, but a recovery will not find it");
        (await Outcome(queued)).Should().Be(CommitOutcome.NotCommitted);
        _listener.Published.Should().Equal(1);
    }

    [Fact]
    public async Task A_failure_of_the_second_write_leaves_the_first_to_its_outcome()
    {
        var first = Submit();
        var one = Wait(first);
        _writes.Await(1);
        var two = Wait(Submit());
        _writes.Await(2);

        _writes.Fail(1);
        TestWait.GiveTimeFor(() => two.IsCompleted);
        two.IsCompleted.Should().BeFalse("outcomes are reported in order");
        var other = Wait(first);
        TestWait.GiveTimeFor(() => other.IsCompleted);
        other.IsCompleted.Should().BeFalse("a thread that does not lead waits for the same outcome");
        _writes.Release(0);

        await one;
        await other;
        (await Outcome(two)).Should().Be(CommitOutcome.Unknown);
        _listener.Published.Should().Equal(1, 2);
    }

    [Fact]
    public async Task A_record_confirms_none_whose_write_is_under_way()
    {
        var one = Wait(Submit());
        _writes.Await(1);
        var two = Wait(Submit());
        _writes.Await(2);
        var confirmed = _writes.DurableSequenceOf(1);
        _writes.Release();
        await Task.WhenAll(one, two);

        confirmed.Should().Be(1, "the record before it was not durable yet when it was sealed");
    }

    [Fact]
    public Task A_record_of_a_flush_waits_for_the_write_under_way() => RequireOneWrite(() => Submit(null, RecordKind.FlushList));

    [Fact]
    public Task A_record_with_unsynced_extents_waits_for_the_write_under_way() =>
        RequireOneWrite(() => Submit(null, RecordKind.Transaction, RecordFlags.ExtentsUnsynced));

    [Fact]
    public Task A_record_of_the_next_file_waits_for_the_write_under_way() =>
        RequireOneWrite(() => Submit(null, RecordKind.Transaction, RecordFlags.None, 48 << 10));

    private async Task RequireOneWrite(Func<long> submit)
    {
        var one = Wait(Submit());
        _writes.Await(1);
        var two = Wait(submit());
        TestWait.GiveTimeFor(() => _writes.Count > 1);
        _writes.Count.Should().Be(1);
        _writes.Release();
        await Task.WhenAll(one, two);
        _listener.Published.Should().Equal(1, 2, 3);
    }

    [Fact]
    public async Task No_write_begins_while_one_continues_with_zeros()
    {
        // These fill the file. The small record that begins the next one is followed by zeros.
        var filling = Wait(Submit(null, RecordKind.Transaction, RecordFlags.None, 44 << 10));
        _writes.Await(1);
        _writes.Release(0);
        await filling;
        filling = Wait(Submit());
        _writes.Await(2);
        _writes.Release(1);
        await filling;

        var one = Wait(Submit());
        _writes.Await(3);
        var two = Wait(Submit());
        TestWait.GiveTimeFor(() => _writes.Count > 3);
        _writes.Count.Should().Be(3, "the zeros after the record would overwrite the next one");
        _writes.Release();
        await Task.WhenAll(one, two);
        _listener.Published.Should().Equal(1, 2, 3, 4, 5);
    }

    [Fact]
    public async Task A_group_commit_runs_a_batch_while_the_one_before_is_written()
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, new StorageOptions { BackgroundFlush = false });
        environment.Write(writing => { writing.CreateTree("t"); });
        environment.Internals.Engine.Journal!.OverlapsWrites = true;
        var writes = new HeldWrites(disk);
        var all = new List<Task>();
        for (byte key = 0; key < 3; key++)
        {
            var name = key;
            all.Add(environment.WriteAsync(writing => writing.OpenTree("t").Put([name], [name]), TestContext.Current.CancellationToken).AsTask());
            if (key < 2)
                writes.Await(key + 1);
        }

        TestWait.GiveTimeFor(() => writes.Count > 2);
        writes.Count.Should().Be(2, "the third operation waits for one of two batches");
        writes.Release(1);
        TestWait.GiveTimeFor(() => all[1].IsCompleted);
        all[1].IsCompleted.Should().BeFalse("the batch before it is not durable");
        writes.Release();
        await Task.WhenAll(all);
        JournalTestKit.Count(environment).Should().Be(3);
        disk.InProgress = null;
    }

    [Fact]
    public async Task Two_of_64_writes_admit_no_second_so_that_the_device_is_measured()
    {
        _writes.Release();
        for (var batch = 1; batch < 61; batch++)
        {
            Submit();
            _journal.Drain();
        }

        _writes = new HeldWrites(_disk);
        var all = new List<Task> { Wait(Submit()) };
        for (var write = 0; write < 2; write++)
        {
            _writes.Await(write + 1);
            all.Add(Wait(Submit()));
            TestWait.GiveTimeFor(() => _writes.Count > write + 1);
            _writes.Count.Should().Be(write + 1, "writes 62 and 63 are alone");
            _writes.Release(write);
        }

        _writes.Await(3);
        all.Add(Wait(Submit()));
        _writes.Await(4);
        _writes.Release();
        await Task.WhenAll(all);
    }

    [Theory]
    [InlineData(8, 0, 1 << 10, true)]
    [InlineData(7, 0, 1 << 10, false)]
    [InlineData(8, 1, 1 << 10, false)]
    [InlineData(8, 0, 1 << 20, false)]
    public void A_device_is_slow_if_the_fastest_of_eight_small_writes_was(int slow, int fast, int bytes, bool isSlow)
    {
        var speed = new DeviceSpeed(TimeSpan.FromMilliseconds(1));
        for (var i = 0; i < fast; i++)
            speed.Add(bytes, Stopwatch.Frequency / 2_000);
        for (var i = 0; i < slow; i++)
            speed.Add(bytes, Stopwatch.Frequency / 500);
        (speed.SlowTicks != 0).Should().Be(isSlow);
    }

    [Fact]
    public async Task A_close_waits_for_both_writes()
    {
        var one = Wait(Submit());
        _writes.Await(1);
        var two = Wait(Submit());
        _writes.Await(2);
        var closing = Task.Run(_journal.Dispose, TestContext.Current.CancellationToken);
        _writes.Release(1);
        TestWait.GiveTimeFor(() => closing.IsCompleted);
        closing.IsCompleted.Should().BeFalse();
        _writes.Release(0);
        await Task.WhenAll(one, two, closing);
        _listener.Published.Should().Equal(1, 2, 3);
    }

    private static async Task<CommitOutcome> Outcome(Task task)
    {
        var failed = task.Awaiting(waiting => waiting.WaitAsync(TestWait.Limit));
        return (await failed.Should().ThrowAsync<EnvironmentPoisonedException>()).Which.Outcome;
    }

    private Task Wait(long sequence) => Task.Run(() => _journal.WaitUntilDurable(sequence), TestContext.Current.CancellationToken);

    private long Submit(
        CommitCompletion? completion = null, RecordKind kind = RecordKind.Transaction, RecordFlags flags = RecordFlags.None, int payload = 0)
    {
        var record = _journal.Rent();
        record.Begin(kind, JournalFormat.Version1);
        record.Finish(payload, payload, flags);
        record.Completion = completion;
        return _journal.Submit(record, default(JournalReserve));
    }

    private sealed class Listener : IJournalListener
    {
        public List<long> Published { get; } = [];

        public void SyncExtents()
        {
        }

        public void OnRecordDurable(RecordBuffer record) => Published.Add(record.Sequence);

        public bool IsNext(RecordBuffer record) => false;

        public void Publish(RecordBuffer record)
        {
        }
    }
}
