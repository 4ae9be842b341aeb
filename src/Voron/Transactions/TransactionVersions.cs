using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Scratch;
using Voron.Testing;
using Voron.Trees.KeyHeads;

namespace Voron.Transactions;

/// <summary>
/// The page versions that the open write transaction has made. Every pushed version is recorded in order; a rollback pops them in reverse.
/// </summary>
/// <remarks>
/// Savepoints are stamps that only increase: a page is changed in place when its version belongs to this transaction and is no older than the
/// innermost open savepoint. When a savepoint ends, <see cref="VersionUndoList"/> yields the versions that no open savepoint needs to keep apart from
/// the version below them; each of these is joined with that version. Used by the holder of the writer.
/// </remarks>
internal sealed unsafe class TransactionVersions
{
    private readonly ReadingEngine _engine;
    private readonly VersionTable _versions;
    private readonly FrameAllocator _frames;
    private readonly VersionUndoList _undoList;
    private readonly int _pageShift;
    private long _id;
    private int _stamp;
    private int _innermostStamp;
    private long _changedBytes;

    public TransactionVersions(ReadingEngine engine)
    {
        _engine = engine;
        _versions = engine.Versions;
        _frames = engine.Frames;
        _undoList = new VersionUndoList(engine.Heap);
        _pageShift = BitOperations.Log2((uint)engine.PageSize);
    }

    /// <summary>The id that this transaction will have.</summary>
    public long Id => _id;

    /// <summary>The stamp of the newest savepoint, open or not; 0 when there was none.</summary>
    public int Stamp => _stamp;

    /// <summary>The stamp of the innermost savepoint; 0 when there is none.</summary>
    public int InnermostStamp => _innermostStamp;

    /// <summary>The number of bytes of scratch memory that this transaction has taken.</summary>
    public long ChangedBytes => _changedBytes;

    /// <summary>An upper bound on the number of versions that the transaction has made.</summary>
    public int Count => _undoList.Count;

    private BranchKeyHeads BranchKeyHeads
    {
        get
        {
            _engine.AssertWriterHeld();
            return _engine.BranchKeyHeads;
        }
    }

    /// <summary>Starts a transaction.</summary>
    public void Begin(long id)
    {
        _engine.AssertWriterHeld();
        Debug.Assert(_undoList.Count == 0, "The last transaction must have ended.");
        Debug.Assert(
            id >= _id || PlantedFault.WrapTransactionIds, "The ids of transactions must not fall: that of one that was rolled back is used again.");
        _id = id;
        _stamp = _innermostStamp = 0;
        _changedBytes = 0;
    }

    /// <summary>True for a version that the transaction may change in place; false for null.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool IsWritable(VersionNode* node) => node != null && node->TransactionId == _id && node->SavepointStamp >= _innermostStamp;

    /// <summary>Drops the key heads of a branch that is about to change.</summary>
    public void ForgetKeyHeads(VersionNode* node)
    {
        if (((PageHeader*)node->Frame)->Kind == PageKind.Branch)
            BranchKeyHeads.Invalidate(new PageNumber(node->Page));
    }

    /// <summary>Ensures that this many pushes allocate no memory.</summary>
    /// <remarks>
    /// An allocation must fail only before anything has changed: a version missing from the list of changes would outlive a rollback.
    /// </remarks>
    public void EnsureRoom(int nodes)
    {
        _engine.AssertWriterHeld();
        _undoList.EnsureRoom(nodes);
        _versions.EnsureNodes(nodes);
    }

    /// <summary>Adds the newest version of a page.</summary>
    public VersionNode* Push(long page, byte* frame, int pages, VersionFlags flags, ulong dirtyLines)
    {
        _engine.AssertWriterHeld();
        var node = _versions.Push(page, _id, _stamp, frame, pages, flags);

        // Readers see the node already, but only the writer uses its dirty lines.
        node->DirtyLines = dirtyLines;
        var older = _versions.Follow(node->Older);
        Debug.Assert(
            older == null || older->TransactionId < _id || older->SavepointStamp < _innermostStamp || PlantedFault.WrapTransactionIds,
            "A page must be copied only when its version is older than the transaction, or than its innermost savepoint.");
        _undoList.Add(node, older != null && older->TransactionId == _id ? older->SavepointStamp : VersionUndoList.CoversNothing);
        _changedBytes += (long)pages << _pageShift;
        return node;
    }

    /// <summary>Adds the version of a page that is new in this transaction.</summary>
    /// <remarks>A page that this transaction has freed and then takes again keeps its node.</remarks>
    /// <exception cref="CorruptionException">The section map is wrong: the page is in use.</exception>
    public VersionNode* PushNew(long page, byte* frame, int pages, VersionFlags flags)
    {
        var node = _versions.Newest(page);
        if (node != null && (node->Flags & VersionFlags.Tombstone) == 0)
            throw new CorruptionException($"Page {page} of '{_engine.DataFile.File.Path}' is free according to the section map, but is in use.");

        // If the section map is wrong and the page is a branch with key heads, those heads do not belong to the new page.
        BranchKeyHeads.Invalidate(new PageNumber(page));
        if (!IsWritable(node))
            return Push(page, frame, pages, node == null ? flags | VersionFlags.Untouched : flags, ulong.MaxValue);
        Refill(node, frame, pages, flags);
        node->DirtyLines = ulong.MaxValue;
        _changedBytes += (long)pages << _pageShift;
        return node;
    }

    /// <summary>Marks a page as free in this transaction.</summary>
    public void AddTombstone(long page)
    {
        BranchKeyHeads.Invalidate(new PageNumber(page));
        var node = _versions.Newest(page);
        if (!IsWritable(node))
        {
            EnsureRoom(1);
            Push(page, null, 0, VersionFlags.Tombstone, 0);
            return;
        }

        Debug.Assert((node->Flags & VersionFlags.Tombstone) == 0, "A page must not be freed twice in one transaction.");
        Refill(node, null, 0, VersionFlags.Tombstone);
    }

    /// <exception cref="TransactionTooLargeException">With that many more bytes, the transaction would exceed its scratch memory limit.</exception>
    public void ThrowIfTooLarge(long bytes)
    {
        if (_changedBytes + bytes > _engine.Options.MaxTransactionBytes)
        {
            var message =
                $"The transaction would change more than {_engine.Options.MaxTransactionBytes} bytes of pages ({nameof(StorageOptions.MaxTransactionBytes)}). " +
                "Divide it into several transactions, or raise the limit.";
            throw PlantedFault.CallLimitFullDisk ? new StorageFullException(message) : new TransactionTooLargeException(message);
        }
    }

    /// <summary>Begins a savepoint inside the open ones.</summary>
    /// <returns>Its stamp.</returns>
    /// <exception cref="InvalidOperationException">There have been too many savepoints in this transaction.</exception>
    public int BeginSavepoint()
    {
        if (_stamp == int.MaxValue)
            throw new InvalidOperationException($"The transaction has created {int.MaxValue} savepoints and cannot create more. Commit it and begin another.");
        _undoList.BeginSavepoint(_stamp + 1);
        return _innermostStamp = ++_stamp;
    }

    /// <summary>Ends a savepoint, with those inside it, and keeps the changes made since.</summary>
    /// <param name="mark">The number of the savepoint, from 0 for the outermost.</param>
    /// <param name="innermostStamp">The stamp of the innermost savepoint that stays open; 0 when there is none.</param>
    public void EndSavepoints(int mark, int innermostStamp)
    {
        _engine.AssertWriterHeld();
        Debug.Assert(innermostStamp <= _innermostStamp, "The savepoint that stays open must be around those that end.");
        while (_undoList.TryEndSavepoint(mark, out var node))
            Join(node);
        _innermostStamp = innermostStamp;
    }

    /// <summary>Pops the versions made since a savepoint, which stays open.</summary>
    /// <param name="mark">The number of the savepoint, from 0 for the outermost.</param>
    /// <param name="stamp">Its stamp.</param>
    /// <param name="changedBytes">The value that <see cref="ChangedBytes"/> had when it began.</param>
    public void RollBackTo(int mark, int stamp, long changedBytes)
    {
        Debug.Assert(stamp <= _innermostStamp && stamp > 0, "A rollback must end in a savepoint that is open.");
        Pop(PlantedFault.RollBackNeighbours ? -1 : mark);
        _changedBytes = changedBytes;
        _innermostStamp = stamp;
    }

    /// <summary>Pops all versions of the transaction.</summary>
    public void RollBack() => Pop(-1);

    /// <summary>Returns the changed pages in the order of their first change, each with its newest version. No savepoint is open.</summary>
    public ReadOnlySpan<PushedVersion> Compact() => _undoList.Compact();

    /// <summary>Forgets the list of changes, which have been submitted or popped.</summary>
    public void Clear() => _undoList.Clear();

    private void Refill(VersionNode* node, byte* frame, int pages, VersionFlags flags)
    {
        if (node->Frame != null)
        {
            _frames.ReturnExtent(node->Frame, node->Pages);
            _changedBytes -= (long)node->Pages << _pageShift;
        }

        _versions.Refill(node, frame, pages, flags);
        Debug.Assert((flags & VersionFlags.SelfContained) != 0, "A version that is filled again must need no base page.");
        _versions.SetSelfContained(node, _id);
    }

    /// <summary>Replaces the version below the newest one of a page, which no savepoint needs, with the newest one.</summary>
    private void Join(VersionNode* node)
    {
        var older = _versions.Follow(node->Older);
        if (older->Frame != null)
        {
            _frames.ReturnExtent(older->Frame, older->Pages);
            _changedBytes -= (long)older->Pages << _pageShift;
        }

        _versions.JoinWithOlder(node);
    }

    /// <summary>Removes the versions made since a savepoint, or all of them when it is -1.</summary>
    private void Pop(int mark)
    {
        _engine.AssertWriterHeld();
        while (_undoList.TryTakeBack(mark, out var node))
        {
            Debug.Assert(node->TransactionId == _id, "A rollback must remove only versions of its own transaction.");
            if (node->Frame != null)
            {
                ForgetKeyHeads(node);
                _frames.ReturnExtent(node->Frame, node->Pages);
            }

            _versions.Pop(node);
        }
    }
}
