using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Snapshots;

/// <summary>The published states, newest last, in native memory: publishing allocates nothing and readers take no lock.</summary>
/// <remarks>
/// Each slot is a sequence lock: its sequence is invalidated before its content changes, and set afterwards. A publisher holds the
/// publication lock. Readers copy a slot, and accept the copy if the slot still has the sequence that they looked for.
/// </remarks>
internal sealed unsafe class StateRing : IDisposable
{
    private const int Slots = 64;
    private const long Changing = -1;

    private readonly EngineLock _publication = new(LockRank.Publication);
    private readonly PublishedState* _slots;
    private long _sequence;

    public StateRing(in PublishedState first)
    {
        _slots = (PublishedState*)EngineMemory.AllocateAligned(Slots * PublishedState.Size, 64);
        NativeMemory.Clear(_slots, Slots * PublishedState.Size);
        for (var i = 0; i < Slots; i++)
            _slots[i].Sequence = Changing;
        Store(first);
    }

    /// <summary>The sequence of the newest state.</summary>
    public long Sequence => Volatile.Read(ref _sequence);

    /// <summary>The id of the newest published transaction.</summary>
    public long PublishedId
    {
        get
        {
            Read(out var state);
            return state.State.TransactionId;
        }
    }

    /// <summary>Copies the newest state.</summary>
    public void Read(out PublishedState state)
    {
        while (!TryRead(Volatile.Read(ref _sequence), out state))
        {
            // The ring wrapped around while the slot was copied.
        }
    }

    /// <summary>Copies the state with that sequence; false when its slot has been reused.</summary>
    public bool TryRead(long sequence, out PublishedState state)
    {
        var slot = _slots + (sequence & (Slots - 1));
        if (Volatile.Read(ref slot->Sequence) != sequence)
        {
            state = default;
            return false;
        }

        state = *slot;
        Volatile.ReadBarrier();
        return slot->Sequence == sequence;
    }

    /// <summary>Publishes the state that results from a durable transaction.</summary>
    public long Publish(in EnvironmentState state, in JournalPosition journalEnd)
    {
        using (_publication.Enter())
        {
            Read(out var next);
            Debug.Assert(
                state.TransactionId > next.State.TransactionId || PlantedFault.WrapTransactionIds,
                "States must be published in the order of their transactions.");
            next.State = state;
            next.JournalEnd = journalEnd;
            return Store(next);
        }
    }

    /// <summary>
    /// Publishes the same state again under a new sequence: readers that register from now on know that versions have been detached, and use
    /// the given map.
    /// </summary>
    public long Republish(byte* map)
    {
        using (_publication.Enter())
        {
            Read(out var next);
            next.Map = map;
            return Store(next);
        }
    }

    public void Dispose() => EngineMemory.FreeAligned(_slots);

    // The constructor stores the first state before any other thread knows the ring.
    [Conditional("DEBUG")]
    private void AssertPublicationHeld()
    {
        if (_sequence != 0)
            _publication.AssertHeld();
    }

    private long Store(in PublishedState state)
    {
        AssertPublicationHeld();
        var sequence = _sequence + 1;
        Debug.Assert(sequence > state.Sequence, "The sequences of published states must rise.");
        var slot = _slots + (sequence & (Slots - 1));
        Debug.Assert(slot->Sequence < sequence, "A place in the ring must hold an older state, which is replaced.");
        Volatile.Write(ref slot->Sequence, Changing);
        Volatile.WriteBarrier();
        slot->State = state.State;
        slot->Map = state.Map;
        slot->JournalEnd = state.JournalEnd;
        Volatile.Write(ref slot->Sequence, sequence);
        Volatile.Write(ref _sequence, sequence);
        return sequence;
    }
}
