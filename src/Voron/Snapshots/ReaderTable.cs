using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Snapshots;

/// <summary>A registered reader, as found by a scan.</summary>
internal readonly record struct ActiveReader(int Slot, long Snapshot, long Sequence);

/// <summary>The origin of a registered reader.</summary>
/// <param name="Use">The number of this use of its slot; together with the slot, it identifies the reader.</param>
/// <param name="Age">The time for which it has been registered.</param>
/// <param name="ThreadId">The managed thread that began it.</param>
/// <param name="OpenedAt">The place where it was begun; null when readers are not tracked.</param>
internal readonly record struct ReaderOrigin(long Use, TimeSpan Age, int ThreadId, StackTrace? OpenedAt);

/// <summary>Records which reader uses which snapshot. Registering takes no lock and waits for no other thread.</summary>
/// <remarks>
/// The handshake: a reader stores its slot, fences, and reads the horizon; a thread that is about to drop versions stores the horizon,
/// fences, and scans the slots. The one that comes second sees the other. A reader whose snapshot is below the horizon takes a newer one.
/// <see cref="Register(int, out AttachedObjects)"/> therefore never succeeds with a snapshot that a scan has overlooked.
///
/// A fork registers a second slot with the snapshot of a registered one, which may be far below the horizon. A scan that reads the slots one by
/// one could miss both: the second before it is stored, and the first after its reader has ended meanwhile. So a fork
/// <code>
///   stores its slot ──▶ counts itself ──▶ checks that the first slot is still registered, or gives up
/// </code>
/// and a scan is repeated if a fork was counted during it, with no fork under way. When none was counted, every fork either stored its slot
/// before the scan, which then finds it, or makes its check after the scan, which has then found the first slot.
/// </remarks>
internal sealed unsafe class ReaderTable : IDisposable
{
    /// <summary>The maximum number of readers that can be registered concurrently, not counting the engine's own.</summary>
    public const int MaxReaders = (1 << 16) - 1;

    /// <summary>The number of additional slots for the engine's own use, so that many readers cannot keep the engine from working.</summary>
    private const int EngineReaders = 16;

    /// <summary>The address space of a table, in bytes.</summary>
    public const int AddressBytes = (MaxReaders + EngineReaders) * ReaderSlot.Size;

    private readonly EngineLock _slotsLock = new(LockRank.ReaderSlots);
    private readonly EngineLock _forksLock = new(LockRank.ReaderForks);
    private readonly AddressSpace _space;
    private readonly ReaderSlot* _slots;
    private readonly StateRing _ring;
    private readonly Stack<int> _freeSlots = new();
    private int _slotCount;
    private int _takenSlots;
    private int _engineSlots;
    private long _horizon;
    private long _forks;
    private StackTrace?[]? _origins;

    /// <param name="ring">The published states.</param>
    /// <param name="addresses">The reservation to take part in; null for a separate one.</param>
    public ReaderTable(StateRing ring, AddressReservation? addresses = null)
    {
        _ring = ring;
        _space = AddressSpace.Reserve(AddressBytes, addresses);
        _slots = (ReaderSlot*)_space.Address;
    }

    /// <summary>The oldest snapshot with which a reader may still register.</summary>
    public long Horizon => Volatile.Read(ref _horizon);

    /// <summary>Returns an unused slot; a reader object keeps its slot for life.</summary>
    /// <param name="forEngine">True for the engine's own use; such a slot does not count as a reader's.</param>
    /// <exception cref="InvalidOperationException">There are too many readers.</exception>
    public int TakeSlot(bool forEngine = false)
    {
        using (_slotsLock.Enter())
        {
            if (_takenSlots - _engineSlots == MaxReaders && !forEngine)
            {
                throw new InvalidOperationException(
                    $"{MaxReaders} read transactions are open, the maximum for an environment. Dispose those that are no longer needed.");
            }

            if (forEngine && _engineSlots == EngineReaders)
            {
                throw new InvalidOperationException(
                    $"{EngineReaders} verifications and backups are running, the maximum at a time. Try again when one of them has ended.");
            }

            if (!_freeSlots.TryPop(out var slot))
            {
                slot = _slotCount;
                _space.EnsureCommitted((nuint)(slot + 1) * ReaderSlot.Size);

                // A return that needed memory could fail, and the reader would be counted forever.
                _freeSlots.EnsureCapacity(slot + 1);
                Volatile.Write(ref _slotCount, slot + 1);
            }

            Debug.Assert(Volatile.Read(ref _slots[slot].SnapshotPlusOne) == 0, "A slot must not be registered when it is taken.");
            _takenSlots++;
            _engineSlots += forEngine ? 1 : 0;
            return slot;
        }
    }

    public void FreeSlot(int slot, bool forEngine = false)
    {
        using (_slotsLock.Enter())
        {
            Debug.Assert(Volatile.Read(ref _slots[slot].SnapshotPlusOne) == 0, "A slot must be released before it is returned.");
            _freeSlots.Push(slot);
            _takenSlots--;
            _engineSlots -= forEngine ? 1 : 0;
            Debug.Assert(_takenSlots >= _engineSlots && _engineSlots >= 0, "No slot may be returned that was not taken.");
            Debug.Assert(_takenSlots + _freeSlots.Count == _slotCount, "Each slot must be either taken or free.");
        }
    }

    /// <summary>
    /// Notes the origin of the reader about to register a slot that is not registered yet. Costs almost nothing without a stack trace.
    /// </summary>
    public void NoteOrigin(int slotIndex, StackTrace? openedAt, int thread)
    {
        var slot = _slots + slotIndex;
        Debug.Assert(Volatile.Read(ref slot->SnapshotPlusOne) == 0, "The origin of a reader must be noted before it is registered.");
        slot->BeganTick = Environment.TickCount64;
        slot->ThreadId = thread;
        if (openedAt != null && _origins == null)
            Interlocked.CompareExchange(ref _origins, new StackTrace?[MaxReaders + EngineReaders], null);
        if (_origins is { } origins)
            origins[slotIndex] = openedAt;
    }

    /// <summary>Returns the origin of a reader that a scan found; null when the reader has ended since.</summary>
    public ReaderOrigin? Describe(in ActiveReader reader)
    {
        var slot = _slots + reader.Slot;
        var use = Volatile.Read(ref slot->Uses);
        var origin = new ReaderOrigin(
            use, TimeSpan.FromMilliseconds(Environment.TickCount64 - slot->BeganTick), slot->ThreadId, _origins?[reader.Slot]);

        // The origin of the slot's next use is noted only after this use has ended.
        Volatile.ReadBarrier();
        return Volatile.Read(ref slot->SnapshotPlusOne) == reader.Snapshot + 1 && slot->Uses == use ? origin : null;
    }

    /// <summary>
    /// Finds the reader with the oldest snapshot and, of several with the same one, the first. Takes no lock and allocates nothing; a reader that
    /// begins or ends meanwhile may be missed.
    /// </summary>
    /// <param name="exceptSlot">A slot that does not count; or -1.</param>
    public bool TryFindOldest(int exceptSlot, out long snapshot, out TimeSpan age)
    {
        (snapshot, age) = (long.MaxValue, TimeSpan.Zero);
        var now = Environment.TickCount64;
        var count = Volatile.Read(ref _slotCount);
        for (var i = 0; i < count; i++)
        {
            var slot = _slots + i;
            var stored = Volatile.Read(ref slot->SnapshotPlusOne);
            if (stored == 0 || stored - 1 > snapshot || i == exceptSlot)
                continue;
            var use = Volatile.Read(ref slot->Uses);
            var found = TimeSpan.FromMilliseconds(Math.Max(0, now - Volatile.Read(ref slot->BeganTick)));

            // As in Describe: the origin of the next use is noted only after this use has ended.
            Volatile.ReadBarrier();
            if (Volatile.Read(ref slot->SnapshotPlusOne) != stored || slot->Uses != use || (stored - 1 == snapshot && found < age))
                continue;
            (snapshot, age) = (stored - 1, found);
        }

        return snapshot != long.MaxValue;
    }

    /// <inheritdoc cref="Register(int, out AttachedObjects)"/>
    public PublishedState* Register(int slotIndex) => Register(slotIndex, out _);

    /// <summary>Registers the slot with the newest published state.</summary>
    /// <param name="slotIndex">The slot.</param>
    /// <param name="attached">The objects attached to the state; null for none. The caller keeps them: native memory cannot.</param>
    /// <returns>The state, which stays in the slot until the reader is released.</returns>
    public PublishedState* Register(int slotIndex, out AttachedObjects? attached)
    {
        var slot = _slots + slotIndex;
        while (true)
        {
            _ring.Read(out var state, out attached);
            SchedulePoint.Reach(SchedulePlace.StateCopied);
            Volatile.Write(ref slot->ConfirmedUse, 0);
            Volatile.Write(ref slot->Uses, slot->Uses + 1);
            Volatile.WriteBarrier();
            Debug.Assert(state.Sequence >= slot->Sequence, "A slot must be registered with states in rising order.");
            slot->State = state;
            slot->Sequence = state.Sequence;
            Volatile.Write(ref slot->SnapshotPlusOne, state.State.TransactionId + 1);
            Interlocked.MemoryBarrier();
            SchedulePoint.Reach(SchedulePlace.SlotStored);
            if (state.State.TransactionId >= Volatile.Read(ref _horizon) || PlantedFault.RegisterUnconfirmed)
            {
                Volatile.Write(ref slot->ConfirmedUse, slot->Uses);
                break;
            }

            Volatile.Write(ref slot->SnapshotPlusOne, 0);
        }

        SchedulePoint.Reach(SchedulePlace.SnapshotConfirmed);

        // The map that was read first may have been retired before the slot was stored.
        _ring.Read(out var newest);
        Debug.Assert(newest.Sequence >= slot->Sequence, "The newest state must not be older than the one that was registered.");
        slot->State.Map = newest.Map;
        if (PlantedFault.TakeNewestState)
            _ring.Read(out _, out attached);
        return &slot->State;
    }

    /// <summary>
    /// Registers a slot with the snapshot of another slot. The caller then checks that the other slot is still registered for the same reader,
    /// and either confirms the fork or releases the slot.
    /// </summary>
    /// <returns>The state, which stays in the slot until the reader is released. It may be torn if the check fails.</returns>
    public PublishedState* RegisterFork(int slotIndex, int sourceIndex)
    {
        var slot = _slots + slotIndex;
        var source = _slots + sourceIndex;
        using (_forksLock.Enter())
        {
            Volatile.Write(ref slot->ConfirmedUse, 0);
            Volatile.Write(ref slot->Uses, slot->Uses + 1);
            Volatile.WriteBarrier();
            slot->State = source->State;
            slot->Sequence = source->Sequence;
            slot->BeganTick = source->BeganTick;
            if (PlantedFault.ForkNewest)
                _ring.Read(out slot->State);
            SchedulePoint.Reach(SchedulePlace.StateCopied);
            Volatile.Write(ref slot->SnapshotPlusOne, slot->State.State.TransactionId + 1);
            Interlocked.Add(ref _forks, PlantedFault.ForkUncounted ? 0 : 1);
        }

        Interlocked.MemoryBarrier();
        SchedulePoint.Reach(SchedulePlace.ForkStored);
        return &slot->State;
    }

    /// <summary>Confirms a fork: the other slot was still registered for the same reader after this one had been stored.</summary>
    public void ConfirmFork(int slotIndex) => Volatile.Write(ref _slots[slotIndex].ConfirmedUse, _slots[slotIndex].Uses);

    public void Release(int slotIndex) => Volatile.Write(ref _slots[slotIndex].SnapshotPlusOne, 0);

    /// <summary>
    /// Raises the horizon to the published snapshot and scans the slots. Below that snapshot, readers can have only the snapshots found.
    /// </summary>
    /// <param name="readers">Cleared, then filled.</param>
    /// <param name="lastSlot">The slot to be scanned last, because it may take over a snapshot from another slot; or -1.</param>
    /// <returns>The published snapshot.</returns>
    public long Scan(List<ActiveReader> readers, int lastSlot)
    {
        var published = _ring.PublishedId;
        SchedulePoint.Reach(SchedulePlace.StateCopied);
        // Two threads may scan concurrently; the horizon only rises.
        var horizon = Volatile.Read(ref _horizon);
        while (horizon < published && !PlantedFault.ScanWithoutHorizon)
        {
            var seen = Interlocked.CompareExchange(ref _horizon, published, horizon);
            if (seen == horizon)
                break;
            horizon = seen;
        }

        Debug.Assert(Volatile.Read(ref _horizon) >= published, "The horizon must be raised to the published snapshot before the slots are scanned.");
        Debug.Assert(Volatile.Read(ref _horizon) <= _ring.PublishedId, "The horizon must not be above the published snapshot.");
        SchedulePoint.Reach(SchedulePlace.HorizonRaised);
        Collect(readers, lastSlot);
        return published;
    }

    /// <summary>Scans the slots without raising the horizon.</summary>
    public void Collect(List<ActiveReader> readers, int lastSlot)
    {
        Interlocked.MemoryBarrier();
        var forks = Volatile.Read(ref _forks);
        CollectOnce(readers, lastSlot);
        Volatile.ReadBarrier();
        if (Volatile.Read(ref _forks) == forks)
            return;
        using (_forksLock.Enter())
            CollectOnce(readers, lastSlot);
    }

    private void CollectOnce(List<ActiveReader> readers, int lastSlot)
    {
        readers.Clear();
        var count = Volatile.Read(ref _slotCount);
        for (var i = 0; i < count; i++)
        {
            if (i != lastSlot)
                Add(readers, i);
            SchedulePoint.Reach(SchedulePlace.SlotScanned);
        }

        if (lastSlot >= 0)
            Add(readers, lastSlot);
    }

    /// <summary>
    /// Returns true if a reader uses a snapshot below this one; for assertions. Readers that have not confirmed their snapshot do not count:
    /// they may store one below the horizon for a moment.
    /// </summary>
    public bool HasReaderBelow(long snapshot)
    {
        var count = Volatile.Read(ref _slotCount);
        for (var i = 0; i < count; i++)
        {
            var slot = _slots + i;
            var stored = Volatile.Read(ref slot->SnapshotPlusOne);
            var uses = Volatile.Read(ref slot->Uses);
            if (stored != 0 && stored - 1 < snapshot && Volatile.Read(ref slot->ConfirmedUse) == uses
                && Volatile.Read(ref slot->SnapshotPlusOne) == stored)
                return true;
        }

        return false;
    }

    /// <summary>
    /// Moves a registered slot to the snapshot of another reader, which is older. Returns false when that reader has ended or moved on, or has not
    /// yet confirmed that it may use that snapshot.
    /// </summary>
    public bool TryJoin(int slotIndex, in ActiveReader other)
    {
        var mine = _slots + slotIndex;
        var theirs = _slots + other.Slot;
        Debug.Assert(
            Volatile.Read(ref mine->SnapshotPlusOne) > other.Snapshot,
            "A registered slot must join only a reader with an older snapshot, or the same.");
        var uses = Volatile.Read(ref theirs->Uses);
        if (Volatile.Read(ref theirs->ConfirmedUse) != uses && !PlantedFault.JoinUnconfirmed)
            return false;
        var state = theirs->State;
        SchedulePoint.Reach(SchedulePlace.Joining);
        Volatile.ReadBarrier();
        Volatile.Write(ref mine->SnapshotPlusOne, other.Snapshot + 1);
        Interlocked.MemoryBarrier();
        SchedulePoint.Reach(SchedulePlace.JoinStored);
        if (Volatile.Read(ref theirs->SnapshotPlusOne) != other.Snapshot + 1 || theirs->Uses != uses || state.State.TransactionId != other.Snapshot)
            return false;
        var map = mine->State.Map;
        mine->State = state;
        mine->State.Map = map;
        return true;
    }

    public PublishedState* State(int slotIndex) => &_slots[slotIndex].State;

    public void Dispose() => _space.Dispose();

    private void Add(List<ActiveReader> readers, int i)
    {
        var slot = _slots + i;
        var snapshot = Volatile.Read(ref slot->SnapshotPlusOne);
        if (snapshot != 0)
            readers.Add(new ActiveReader(i, snapshot - 1, Volatile.Read(ref slot->Sequence)));
    }

    /// <summary>Four cache lines, so that no two readers share one.</summary>
    [StructLayout(LayoutKind.Explicit, Size = Size)]
    private struct ReaderSlot
    {
        public const int Size = 256;

        /// <summary>0 when no reader is registered.</summary>
        [FieldOffset(0)]
        public long SnapshotPlusOne;

        [FieldOffset(8)]
        public long Sequence;

        /// <summary>Incremented before the state changes, so that a copy of the state can be checked for consistency.</summary>
        [FieldOffset(16)]
        public long Uses;

        /// <summary>The use that has passed the check of the horizon; before that, the slot may hold a snapshot that is gone.</summary>
        [FieldOffset(24)]
        public long ConfirmedUse;

        [FieldOffset(32)]
        public long BeganTick;

        [FieldOffset(40)]
        public int ThreadId;

        [FieldOffset(64)]
        public PublishedState State;
    }
}
