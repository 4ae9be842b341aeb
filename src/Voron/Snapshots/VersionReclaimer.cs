using System.Diagnostics;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Scratch;
using Voron.Testing;
using Voron.Trees.KeyHeads;

namespace Voron.Snapshots;

/// <summary>Drops versions that no reader can see any longer, and returns their frames. Used by the holder of the writer only.</summary>
/// <remarks>
/// A superseded version (v, with successor u) is dropped when u is published and no registered snapshot lies in [v, u). No reader can hold its
/// frame then, so the frame is free immediately. A flushed version is detached while readers may still hold it: its frame is kept for readers with
/// an older sequence and a snapshot in [v, u).
/// </remarks>
internal sealed unsafe class VersionReclaimer
{
    private readonly VersionTable _versions;
    private readonly FrameAllocator _frames;
    private readonly ReaderTable _readers;
    private readonly StateRing _ring;
    private readonly DataFileKeyHeads? _dataFileKeyHeads;
    private readonly List<ActiveReader> _active = [];
    private readonly NativeHeap _heap;
    private readonly NativeList<SupersededPage> _superseded;
    private readonly NativeList<SupersededPage> _blocked;
    private readonly List<DetachedFrames> _detached = [];
    private readonly Stack<NativeList<DetachedFrame>> _freeLists = new();

    public VersionReclaimer(
        VersionTable versions, FrameAllocator frames, ReaderTable readers, StateRing ring, DataFileKeyHeads? dataFileKeyHeads, NativeHeap heap)
    {
        _heap = heap;
        _superseded = new NativeList<SupersededPage>(heap);
        _blocked = new NativeList<SupersededPage>(heap);
        _dataFileKeyHeads = dataFileKeyHeads;
        _versions = versions;
        _frames = frames;
        _readers = readers;
        _ring = ring;
    }

    /// <summary>Asserts that the caller holds the writer; null in tests of this class alone.</summary>
    public Action? AssertHeld { get; set; }

    /// <summary>Notified of pages that have lost their versions: those that are free can be written directly from then on.</summary>
    public Action<ReadOnlySpan<long>>? Detached { get; set; }

    /// <summary>The flusher's slot, scanned last.</summary>
    public int FlusherSlot { get; set; } = -1;

    /// <summary>The oldest sequence of a reader in the last scan of <see cref="Reclaim"/>; the newest sequence if there was no reader.</summary>
    public long OldestSequence { get; private set; }

    /// <summary>Ensures that <paramref name="pages"/> calls of <see cref="AddSuperseded"/> allocate no memory.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory; nothing has changed.</exception>
    public void EnsureRoom(int pages)
    {
        AssertWriterHeld();
        _superseded.EnsureRoom(pages);
    }

    /// <summary>Notes that a page that already had a version received another one in a submitted transaction.</summary>
    public void AddSuperseded(long page, long successorId)
    {
        AssertWriterHeld();
        Debug.Assert(
            _superseded.Count == 0 || _superseded[_superseded.Count - 1].SuccessorId <= successorId || PlantedFault.WrapTransactionIds,
            "Superseded pages must be noted in the order of the transactions.");
        _superseded.Add(new SupersededPage(page, successorId));
    }

    /// <summary>Drops versions and reclaims frames where possible; cheap when there is nothing to do.</summary>
    /// <param name="needsOldest">True to scan the readers even then, because the caller needs <see cref="OldestSequence"/>.</param>
    public void Reclaim(bool needsOldest = false)
    {
        AssertWriterHeld();
        if (_superseded.Count == 0 && _blocked.Count == 0 && _detached.Count == 0 && !needsOldest)
            return;

        var published = _readers.Scan(_active, FlusherSlot);
        var newlyBlocked = _blocked.Count;
        while (_superseded.Count > 0 && _superseded[0].SuccessorId <= published + (PlantedFault.DropVersionsEarly ? 1 : 0))
            Drop(_superseded.RemoveFirst());

        // Entries that were already blocked are examined again, more of them than were just added, so that their number falls.
        newlyBlocked = Math.Max(0, _blocked.Count - newlyBlocked);
        for (var i = Math.Min(_blocked.Count - newlyBlocked, 64 + 2 * newlyBlocked); i > 0; i--)
            Drop(_blocked.RemoveFirst());

        ReclaimDetached();
    }

    /// <summary>
    /// Removes the versions up to <paramref name="flushedId"/> of flushed pages from the table: they are now in the data file.
    /// </summary>
    /// <returns>The state sequence from which on readers no longer find them.</returns>
    public long Detach(ReadOnlySpan<long> pages, long flushedId, byte* map)
    {
        AssertWriterHeld();
        Debug.Assert(
            flushedId <= _ring.PublishedId || PlantedFault.FlushPastDurable, "Only versions of published transactions can have been flushed.");
        var frames = _freeLists.TryPop(out var pooled) ? pooled : new NativeList<DetachedFrame>(_heap);
        try
        {
            foreach (var page in pages)
                Detach(page, flushedId, frames);
        }
        catch
        {
            // Out of memory for more frames. The versions removed so far stay removed, and their frames must be kept for their readers.
            Announce(frames, map);
            throw;
        }
        finally
        {
            Detached?.Invoke(PlantedFault.ForgetFreedSpace ? [] : pages);
        }

        return Announce(frames, map);
    }

    private void Detach(long page, long flushedId, NativeList<DetachedFrame> frames)
    {
        // Done before any transaction finds the page in the data file again.
        _dataFileKeyHeads?.Invalidate(new PageNumber(PlantedFault.KeepKeyHeadsOverFlush ? 0 : page));
        SchedulePoint.Reach(SchedulePlace.KeyHeadsInvalidated);
        VersionNode* newer = null;
        var node = _versions.Newest(page);
        while (node != null && node->TransactionId > flushedId)
        {
            newer = node;
            node = _versions.Follow(node->Older);
        }

        if (node == null)
            return;

        var length = 0;
        for (var older = node; older != null; older = _versions.Follow(older->Older))
            length++;
        frames.EnsureRoom(length);
        var successorId = newer != null ? newer->TransactionId : long.MaxValue;
        var link = _versions.TruncateChain(page, newer);
        while (link != 0)
        {
            node = _versions.Follow(link);
            link = node->Older;
            if (node->Frame != null)
                frames.Add(new DetachedFrame((nint)node->Frame, node->Pages, node->TransactionId, successorId));
            successorId = node->TransactionId;
            _versions.Free(node);
        }
    }

    // Readers that register from here on do not find the detached versions.
    private long Announce(NativeList<DetachedFrame> frames, byte* map)
    {
        SchedulePoint.Reach(SchedulePlace.VersionsDetached);
        var sequence = _ring.Republish(map);
        Debug.Assert(
            _detached.Count == 0 || _detached[^1].Sequence < sequence,
            "Versions must be detached in the order of the states that are published for it.");
        if (frames.Count > 0)
            _detached.Add(new DetachedFrames(sequence, frames));
        else
            _freeLists.Push(frames);
        return sequence;
    }

    [Conditional("DEBUG")]
    private void AssertWriterHeld() => AssertHeld?.Invoke();

    private void Drop(in SupersededPage superseded)
    {
        var node = _versions.Newest(superseded.Page);
        while (node != null && node->TransactionId > superseded.SuccessorId)
            node = _versions.Follow(node->Older);
        if (node == null || node->TransactionId != superseded.SuccessorId)
            return;

        VersionNode* older;
        while ((older = _versions.Follow(node->Older)) != null)
        {
            if (IsSeen(older->TransactionId, superseded.SuccessorId, long.MaxValue))
            {
                _blocked.Add(superseded);
                return;
            }

            Debug.Assert(older->TransactionId <= superseded.SuccessorId, "A version must be older than the one that has superseded it.");
            var frame = older->Frame;
            var pages = older->Pages;
            _versions.Unlink(node, older);
            SchedulePoint.Reach(SchedulePlace.VersionDropped);
            if (frame != null)
                _frames.ReturnExtent(frame, pages);
        }
    }

    private void ReclaimDetached()
    {
        OldestSequence = _ring.Sequence;
        Debug.Assert(_readers.Horizon <= _ring.PublishedId, "The horizon of readers must not be above the published snapshot.");
        foreach (var reader in _active)
            OldestSequence = Math.Min(OldestSequence, reader.Sequence);

        for (var i = _detached.Count - 1; i >= 0; i--)
        {
            // Frames that are still kept for the same readers as last time are not examined.
            var group = _detached[i];
            var blockers = Blockers(group.Sequence);
            if (blockers != 0 && blockers == group.Blockers)
                continue;
            group.Blockers = blockers;
            var kept = 0;
            for (var at = 0; at < group.Frames.Count; at++)
            {
                var frame = group.Frames[at];
                if (OldestSequence < group.Sequence && IsSeen(frame.TransactionId, frame.SuccessorId, group.Sequence)
                    && !PlantedFault.FreeDetachedEarly)
                    group.Frames[kept++] = frame;
                else
                    _frames.ReturnExtent((byte*)frame.Address, frame.Pages);
            }

            group.Frames.Truncate(kept);
            if (kept == 0)
            {
                group.Frames.Clear();
                _freeLists.Push(group.Frames);
                _detached.RemoveAt(i);
            }
        }
    }

    /// <summary>Returns true when a reader older than the sequence has a snapshot in [from, to).</summary>
    private bool IsSeen(long from, long to, long sequence)
    {
        foreach (var reader in _active)
        {
            if ((reader.Snapshot >= from || PlantedFault.KeepBehindReader) && reader.Snapshot < to && reader.Sequence < sequence)
                return true;
        }

        return false;
    }

    /// <summary>Returns a number that represents the readers older than a sequence; 0 when there are none.</summary>
    private long Blockers(long sequence)
    {
        var blockers = 0L;
        foreach (var reader in _active)
        {
            if (reader.Sequence < sequence)
                blockers = blockers * 31 + (reader.Slot + 1) * 1_000_003L + reader.Snapshot + 1;
        }

        return blockers;
    }

    private readonly record struct DetachedFrame(nint Address, int Pages, long TransactionId, long SuccessorId);

    private sealed class DetachedFrames(long sequence, NativeList<DetachedFrame> frames)
    {
        public long Sequence { get; } = sequence;

        public NativeList<DetachedFrame> Frames { get; } = frames;

        public long Blockers { get; set; }
    }
}

/// <summary>A page whose versions below that of transaction <paramref name="SuccessorId"/> may be dropped.</summary>
internal readonly record struct SupersededPage(long Page, long SuccessorId);
