using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Snapshots;

/// <summary>The published states, newest last, in native memory: publishing allocates nothing and readers take no lock.</summary>
/// <remarks>
/// Each slot is a sequence lock: its sequence is invalidated before its content changes, and set afterwards. A publisher holds the publication
/// lock. Readers copy a slot, and accept the copy if the slot still has the sequence that they looked for. The objects attached to the state are
/// stored in a parallel managed array, and belong to the content of the slot.
/// </remarks>
internal sealed unsafe class StateRing : IDisposable
{
    private const int Slots = 64;
    private const long Changing = -1;

    private readonly EngineLock _publication = new(LockRank.Publication);
    private readonly PublishedState* _slots;
    private readonly AttachedObjects?[] _attached = new AttachedObjects?[Slots];
    private long _sequence;
    private bool _hasOlderAttached;

    public StateRing(in PublishedState first)
    {
        _slots = (PublishedState*)EngineMemory.AllocateAligned(Slots * PublishedState.Size, 64);
        NativeMemory.Clear(_slots, Slots * PublishedState.Size);
        for (var i = 0; i < Slots; i++)
            _slots[i].Sequence = Changing;
        Store(first, attached: null);
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

    /// <summary>True while slots of the ring may keep alive objects that are attached only to older states.</summary>
    public bool HasOlderAttached => Volatile.Read(ref _hasOlderAttached);

    /// <summary>Copies the newest state.</summary>
    public void Read(out PublishedState state) => Read(out state, out _);

    /// <summary>Copies the newest state.</summary>
    /// <param name="state">The copy.</param>
    /// <param name="attached">The objects attached to it; null for none.</param>
    public void Read(out PublishedState state, out AttachedObjects? attached)
    {
        while (!TryRead(Volatile.Read(ref _sequence), out state, out attached))
        {
            // The ring wrapped around while the slot was copied.
        }
    }

    /// <summary>Copies the state with that sequence; false when its slot has been reused.</summary>
    public bool TryRead(long sequence, out PublishedState state, out AttachedObjects? attached)
    {
        var at = (int)(sequence & (Slots - 1));
        var slot = _slots + at;
        if (Volatile.Read(ref slot->Sequence) != sequence)
        {
            state = default;
            attached = null;
            return false;
        }

        state = *slot;
        attached = _attached[at];
        Volatile.ReadBarrier();
        return slot->Sequence == sequence;
    }

    /// <summary>Publishes the state that results from a durable transaction, or from a lazy one that will be durable later.</summary>
    /// <param name="state">The state.</param>
    /// <param name="journalEnd">The position after the transaction's record.</param>
    /// <param name="attached">All objects attached to the state; null for none.</param>
    public long Publish(in EnvironmentState state, in JournalPosition journalEnd, AttachedObjects? attached)
    {
        using (_publication.Enter())
        {
            Read(out var next);
            Debug.Assert(
                state.TransactionId > next.State.TransactionId || PlantedFault.WrapTransactionIds,
                "States must be published in the order of their transactions.");
            next.State = state;
            next.JournalEnd = journalEnd;
            return Store(next, attached);
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
            Read(out var next, out var attached);
            next.Map = map;
            return Store(next, PlantedFault.ForgetStateInRepublish ? null : attached);
        }
    }

    /// <summary>
    /// Forgets the objects attached to older states than the newest one. Readers keep those of their snapshots; the slots of these states become
    /// invalid, as if the ring had wrapped around.
    /// </summary>
    public void ForgetOlderAttached()
    {
        using (_publication.Enter())
        {
            _hasOlderAttached = false;
            for (var i = 0; i < Slots; i++)
            {
                if (_attached[i] == null || i == (_sequence & (Slots - 1)))
                    continue;
                Volatile.Write(ref _slots[i].Sequence, Changing);
                Volatile.WriteBarrier();
                _attached[i] = null;
            }
        }
    }

    public void Dispose()
    {
        Array.Clear(_attached);
        EngineMemory.FreeAligned(_slots);
    }

    // The constructor stores the first state before any other thread knows the ring.
    [Conditional("DEBUG")]
    private void AssertPublicationHeld()
    {
        if (_sequence != 0)
            _publication.AssertHeld();
    }

    private long Store(in PublishedState state, AttachedObjects? attached)
    {
        AssertPublicationHeld();
        var sequence = _sequence + 1;
        Debug.Assert(sequence > state.Sequence, "The sequences of published states must rise.");
        var at = (int)(sequence & (Slots - 1));
        var slot = _slots + at;
        if (!ReferenceEquals(_attached[_sequence & (Slots - 1)], attached))
            Volatile.Write(ref _hasOlderAttached, true);
        Debug.Assert(slot->Sequence < sequence, "A place in the ring must hold an older state, which is replaced.");
        Volatile.Write(ref slot->Sequence, Changing);
        Volatile.WriteBarrier();
        slot->State = state.State;
        slot->Map = state.Map;
        slot->JournalEnd = state.JournalEnd;
        if (!ReferenceEquals(_attached[at], attached))
            _attached[at] = attached;
        Volatile.Write(ref slot->Sequence, sequence);
        Volatile.Write(ref _sequence, sequence);
        return sequence;
    }
}
