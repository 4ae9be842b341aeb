using Voron.Format;
using Voron.Primitives;
using Voron.Snapshots;

namespace Voron.Tests.Snapshots;

[Quick]
public sealed unsafe class ReaderTableTests(ITestOutputHelper output)
{
    [Fact]
    public void The_ring_gives_the_newest_state_and_forgets_the_oldest()
    {
        using var ring = new StateRing(State(1));
        ring.PublishedId.Should().Be(1);
        var first = ring.Sequence;
        for (var id = 2; id <= 100; id++)
            ring.Publish(Of(id), default, attached: null);
        ring.PublishedId.Should().Be(100);
        ring.Sequence.Should().Be(first + 99);
        ring.TryRead(first, out _, out _).Should().BeFalse();
        ring.TryRead(ring.Sequence - 10, out var state, out _).Should().BeTrue();
        state.State.TransactionId.Should().Be(90);

        ring.Republish((byte*)4096).Should().Be(first + 100);
        ring.Read(out state);
        state.State.TransactionId.Should().Be(100);
        ((nint)state.Map).Should().Be(4096);
    }

    [Fact]
    public void A_registered_reader_is_found_until_it_is_released()
    {
        using var ring = new StateRing(State(5));
        using var table = new ReaderTable(ring);
        var (one, two) = (table.TakeSlot(), table.TakeSlot());
        table.Register(one)->State.TransactionId.Should().Be(5);
        ring.Publish(Of(6), default, attached: null);
        table.Register(two);
        var readers = new List<ActiveReader>();
        table.Scan(readers, lastSlot: -1).Should().Be(6);
        readers.Select(reader => reader.Snapshot).Should().Equal(5, 6);
        table.Horizon.Should().Be(6);
        table.Release(one);
        table.Scan(readers, lastSlot: -1);
        readers.Should().ContainSingle().Which.Slot.Should().Be(two);
        table.FreeSlot(one);
        table.TakeSlot().Should().Be(one);
    }

    [Fact]
    public void The_flusher_joins_an_older_reader_only_while_it_is_there()
    {
        using var ring = new StateRing(State(5));
        using var table = new ReaderTable(ring);
        var (reader, flusher) = (table.TakeSlot(), table.TakeSlot());
        table.Register(reader);
        ring.Publish(Of(9), default, attached: null);
        table.Register(flusher)->State.TransactionId.Should().Be(9);
        var readers = new List<ActiveReader>();
        table.Scan(readers, flusher);
        readers[0].Snapshot.Should().Be(5);
        table.TryJoin(flusher, readers[0]).Should().BeTrue();
        table.State(flusher)->State.TransactionId.Should().Be(5);

        table.Release(reader);
        table.Register(flusher);
        table.TryJoin(flusher, readers[0]).Should().BeFalse();
        table.Register(reader)->State.TransactionId.Should().Be(9);
        table.TryJoin(flusher, readers[0]).Should().BeFalse("the slot belongs to another snapshot now");
    }

    [Fact]
    public void No_reader_is_overlooked_by_a_scan()
    {
        // The pruner notes the oldest snapshot that it must not touch; a reader that is registered below it was overlooked. The number of each state
        // is attached to it.
        var key = new object();
        using var ring = new StateRing(State(1));
        using var table = new ReaderTable(ring);
        var floor = 0L;
        var stopping = false;
        var registered = 0L;
        string? fault = null;
        var threads = Enumerable.Range(0, 3).Select(_ => new Thread(() =>
        {
            var slot = table.TakeSlot();
            while (!Volatile.Read(ref stopping))
            {
                var state = table.Register(slot, out var attached);
                var id = state->State.TransactionId;
                if (id > 1 && !Equals(AttachedObjects.Find(attached, key), id))
                    fault ??= $"{AttachedObjects.Find(attached, key)} is attached to {id}";
                if (Volatile.Read(ref floor) > id)
                    fault ??= $"a reader registered at {id} below {Volatile.Read(ref floor)}";
                if (state->State.PageCount != id * 3 || state->State.NextTreeId != (uint)id)
                    fault ??= $"a torn state: {id}, {state->State.PageCount} pages, next tree {state->State.NextTreeId}";
                Thread.SpinWait((int)(id % 64));
                if (Volatile.Read(ref floor) > id)
                    fault ??= $"the reader at {id} was overlooked: {Volatile.Read(ref floor)} was dropped";
                table.Release(slot);
                Interlocked.Increment(ref registered);
            }
        })).ToList();
        threads.ForEach(thread => thread.Start());
        var readers = new List<ActiveReader>();
        for (var id = 2L; fault == null && (Interlocked.Read(ref registered) < 300_000 || id < 10_000); id++)
        {
            ring.Publish(Of(id), default, AttachedObjects.With(null, key, id));
            if (id % 3 == 0)
                ring.Republish(null);
            if (id % 7 == 0)
                ring.ForgetOlderAttached();
            var oldest = table.Scan(readers, lastSlot: -1);
            foreach (var reader in readers)
                oldest = Math.Min(oldest, reader.Snapshot);
            Volatile.Write(ref floor, Math.Max(floor, oldest));
        }

        Volatile.Write(ref stopping, true);
        threads.ForEach(thread => thread.Join());
        output.WriteLine($"{registered} registrations, {ring.PublishedId} publications");
        fault.Should().BeNull();
    }

    [Fact]
    public void A_fork_has_the_state_and_the_sequence_of_its_source()
    {
        using var ring = new StateRing(State(5));
        using var table = new ReaderTable(ring);
        var (source, fork) = (table.TakeSlot(), table.TakeSlot());
        table.Register(source);
        var sequence = ring.Sequence;
        ring.Publish(Of(9), default, attached: null);
        ring.Republish(null);
        table.Register(fork)->State.TransactionId.Should().Be(9);
        table.Release(fork);
        var readers = new List<ActiveReader>();
        table.Scan(readers, lastSlot: -1);
        table.RegisterFork(fork, source)->State.TransactionId.Should().Be(5, "the horizon has passed this snapshot, but its reader is still there");
        table.Release(source);
        table.HasReaderBelow(9).Should().BeFalse("the fork is not confirmed");
        table.ConfirmFork(fork);
        table.HasReaderBelow(9).Should().BeTrue();
        table.Scan(readers, lastSlot: -1);
        readers.Should().ContainSingle().Which.Should().Be(new ActiveReader(fork, 5, sequence));
        var flusher = table.TakeSlot();
        table.Register(flusher);
        table.TryJoin(flusher, readers[0]).Should().BeTrue("the fork is confirmed");
    }

    [Fact]
    public void No_fork_is_overlooked_by_a_scan()
    {
        // Each thread moves a snapshot from slot to slot, so that there is always a reader of it.
        using var ring = new StateRing(State(1));
        using var table = new ReaderTable(ring);
        var floor = 0L;
        var stopping = false;
        var forked = 0L;
        string? fault = null;
        var threads = Enumerable.Range(0, 3).Select(_ => new Thread(() =>
        {
            int[] slots = [table.TakeSlot(), table.TakeSlot(), table.TakeSlot()];
            while (!Volatile.Read(ref stopping))
            {
                var id = table.Register(slots[0])->State.TransactionId;
                for (var i = 1; i < 60; i++)
                {
                    var state = table.RegisterFork(slots[i % 3], slots[(i - 1) % 3]);
                    table.ConfirmFork(slots[i % 3]);
                    table.Release(slots[(i - 1) % 3]);
                    Interlocked.Increment(ref forked);
                    if (state->State.TransactionId != id || state->State.PageCount != id * 3)
                        fault ??= $"a fork of snapshot {id} has {state->State.TransactionId}";
                    if (Volatile.Read(ref floor) > id)
                        fault ??= $"the fork of snapshot {id} was overlooked: {Volatile.Read(ref floor)} was dropped";
                }

                table.Release(slots[59 % 3]);
            }
        })).ToList();
        threads.ForEach(thread => thread.Start());
        var readers = new List<ActiveReader>();
        for (var id = 2L; fault == null && (Interlocked.Read(ref forked) < 300_000 || id < 10_000); id++)
        {
            ring.Publish(Of(id), default, attached: null);
            var oldest = table.Scan(readers, lastSlot: -1);
            foreach (var reader in readers)
                oldest = Math.Min(oldest, reader.Snapshot);
            Volatile.Write(ref floor, Math.Max(floor, oldest));
        }

        Volatile.Write(ref stopping, true);
        threads.ForEach(thread => thread.Join());
        output.WriteLine($"{forked} forks, {ring.PublishedId} publications");
        fault.Should().BeNull();
    }

    private static PublishedState State(long id) => new() { State = Of(id) };

    private static EnvironmentState Of(long id) => new() { TransactionId = id, PageCount = id * 3, NextTreeId = (uint)id };
}
