using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.FreeSpace;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Trees.KeyHeads;
using Voron.Trees.Pages;

namespace Voron.Transactions;

/// <summary>
/// The copy-on-write pages of the open write transaction: copies pages to scratch memory before they change, allocates and frees
/// pages, and undoes all of this on rollback. One object per environment, used by the holder of the writer.
/// </summary>
internal sealed unsafe partial class CopyOnWritePages : PageWriter, ISpacePages
{
    /// <summary>The maximum number of list entries whose memory is kept for the next transaction.</summary>
    private const int MaxKeptEntries = 1024;

    private readonly Engine _engine;
    private readonly VersionTable _versions;
    private readonly DataFile _dataFile;
    private readonly int _pageShift;
    private readonly int _lineShift;
    private readonly bool _verifyEveryRead;
    private readonly LargeValueReader _largeValues;
    private readonly TransactionVersions _ownVersions;
    private readonly DirectExtentList _directExtents = new();
    private readonly SpaceAllocator _space;
    private readonly DataFileGrowth _growth;
    private readonly List<CopyOnWriteMark> _marks = [];
    private EnvironmentState _state;
    private EnvironmentState _begun;
    private long _freedInExtents;
    private long _pageCountBefore;

    public CopyOnWritePages(Engine engine)
    {
        _engine = engine;
        _ownVersions = new TransactionVersions(engine);
        _growth = new DataFileGrowth(engine);
        _versions = engine.Versions;
        _dataFile = engine.DataFile;
        PageSize = engine.PageSize;
        _verifyEveryRead = engine.Options.VerifyEveryRead;
        _largeValues = new LargeValueReader(this, _dataFile, _verifyEveryRead);
        KeyHeads = new TransactionKeyHeads(_verifyEveryRead ? null : engine.DataFileKeyHeads, engine.BranchKeyHeads);
        _pageShift = BitOperations.Log2((uint)PageSize);
        _lineShift = _pageShift - 6;
        LargeValueBuffer = engine.DataFile.Unbuffered is { } file ? new LargeValueWriteBuffer(file) : null;
        _space = new SpaceAllocator(engine.Layout, this, engine.Options.PreferredFreeFraction);
        Holes = new PossibleHoles(engine.Layout, _space.Map, engine.DataFile.CapacityPages, engine.DataFile.IsNew, engine.DataFile.Refill);
        engine.Reserved = _space.Reserved;
        Unpacker = new DictionaryUnpacker(this, engine.Snapshots.Dictionaries);
    }

    public override int PageSize { get; }

    public override string FilePath => _dataFile.File.Path;

    public override Lineage Lineage => _engine.Format.Lineage;

    public override long PageCount => _state.PageCount;

    public override DictionaryUnpacker Unpacker { get; }

    /// <summary>The key heads that the transaction's trees search with, including the transaction's changes.</summary>
    public TransactionKeyHeads KeyHeads { get; }

    /// <summary>The id that this transaction will have.</summary>
    public long Id => _ownVersions.Id;

    /// <summary>The transaction's current state. The transaction body, which owns the trees, maintains the catalog's part.</summary>
    public ref EnvironmentState State => ref _state;

    /// <summary>The number of bytes of scratch memory that this transaction has taken.</summary>
    public long ChangedBytes => _ownVersions.ChangedBytes;

    /// <summary>
    /// The number of bytes that bypassed the journal or the number of bytes freed in extents, whichever is more. A flush is needed for
    /// them, because freed extents can be written directly only after one.
    /// </summary>
    public long DirectBytes => Math.Max(_directExtents.PagesInUse, _freedInExtents) << _pageShift;

    /// <summary>An upper bound on the number of versions that the transaction has made.</summary>
    public int VersionCount => _ownVersions.Count;

    /// <summary>The stamp of the innermost savepoint; 0 when there is none.</summary>
    public int InnermostStamp => _ownVersions.InnermostStamp;

    public bool HasChanges => _ownVersions.Count > 0 || _state.PageCount != _pageCountBefore;

    /// <summary>Tracks the free pages that may have no blocks.</summary>
    public PossibleHoles Holes { get; }

    public SpaceAllocator Space => _space;

    /// <summary>Gathers large values to be written past the page cache; null where they cannot be written that way.</summary>
    public LargeValueWriteBuffer? LargeValueBuffer { get; }

    /// <summary>The extents that this transaction has written directly to the data file.</summary>
    public List<TransactionExtent> DirectExtents => _directExtents.All;

    /// <summary>Starts a transaction from the newest submitted state.</summary>
    public void Begin(in EnvironmentState submitted)
    {
        _engine.AssertWriterHeld();
        Debug.Assert(_directExtents.Count == 0 && _marks.Count == 0, "The last transaction must have ended.");
        Debug.Assert(LargeValueBuffer is not { HasBytes: true }, "No write of a value may outlive its transaction.");
        if (submitted.TransactionId >= StateStructure.MaxTransactionId && !PlantedFault.WrapTransactionIds)
        {
            throw new StorageFullException(
                $"The environment in '{_engine.Disk.Path}' has used up its transaction ids: {submitted.TransactionId} is the last. " +
                "Copy the trees into a new environment.");
        }

        _state = _begun = submitted;
        _ownVersions.Begin(submitted.TransactionId + 1);
        _pageCountBefore = submitted.PageCount;
        _freedInExtents = 0;
        _space.BeginTransaction();
    }

    public override byte* Read(PageNumber page)
    {
        var number = page.Value;
        if ((ulong)number >= (ulong)_state.PageCount)
            PageErrors.ThrowBeyond(this, number);
        var node = _versions.Newest(number);
        if (node != null)
        {
            if (node->Frame == null)
                PageErrors.ThrowFreed(this, number, node->Flags);
            return node->Frame;
        }

        if (_verifyEveryRead || !_dataFile.IsVerified(number))
            _dataFile.Verify(number);
        return _dataFile.Address(number);
    }

    public override byte* Peek(PageNumber page)
    {
        var number = page.Value;
        if ((ulong)number >= (ulong)_state.PageCount)
            return null;
        var node = _versions.Newest(number);
        return node != null ? node->Frame : _dataFile.Address(number);
    }

    public override byte* DataFilePage(PageNumber page)
    {
        var number = page.Value;
        // Page 0 holds a map; in the table of key heads, 0 means no page.
        return (ulong)(number - 1) >= (ulong)(_state.PageCount - 1) || _versions.HasVersion(number) ? null : _dataFile.Address(number);
    }

    public override void PrefetchDataFilePage(PageNumber page) => _versions.PrefetchChain(page.Value);

    public override void PrefetchVersions(PageNumber* pages, int count)
    {
        for (var i = 0; i < count; i++)
            _versions.PrefetchChain(pages[i].Value);
        for (var i = 0; i < count; i++)
            _versions.PrefetchNewest(pages[i].Value);
    }

    public override byte* PeekUnlessWritable(PageNumber page)
    {
        var number = page.Value;
        if ((ulong)number >= (ulong)_state.PageCount)
            return null;
        var node = _versions.Newest(number);
        if (node == null)
            return _dataFile.Address(number);
        return _ownVersions.IsWritable(node) ? null : node->Frame;
    }

    public override ReadOnlySpan<byte> ReadLarge(scoped in LargeExtentReference reference, long offset, int count)
    {
        // The value may belong to this transaction. If writing it failed, that failure must be reported, not the bytes found instead.
        LargeValueBuffer?.Finish();
        return _largeValues.Read(_dataFile.Address(0), _state.PageCount, reference, offset, count);
    }

    public override WritablePage Modify(PageNumber page)
    {
        _engine.AssertWriterHeld();
        var node = _versions.Newest(page.Value);
        if (!_ownVersions.IsWritable(node))
            node = Copy(page.Value, node);
        else if (node->Frame == null)
            PageErrors.ThrowFreed(this, page.Value, node->Flags);
        _ownVersions.ForgetKeyHeads(node);
        return new WritablePage(node->Frame, &node->DirtyLines, _lineShift);
    }

    public override uint TreeMark(uint treeId) => _engine.Format.TreeMark(treeId);

    public override WritablePage Allocate(PageKind kind, PageNumber near)
    {
        _ownVersions.ThrowIfTooLarge(PageSize);
        _engine.Counters.AllocatedPages++;
        return AddPage(_space.AllocatePage(near.Value), kind);
    }

    public override WritablePage AllocateExtent(long length, PageNumber near)
    {
        var pages = TreeLimits.OverflowPages(PageSize, length);
        _ownVersions.ThrowIfTooLarge((long)pages << _pageShift);
        _engine.Counters.AllocatedPages += pages;
        return AddExtent(_space.AllocateExtent(pages, untouched: false), pages, length);
    }

    private WritablePage AddExtent(long first, int pages, long length)
    {
        _ownVersions.EnsureRoom(pages);
        var frame = _engine.Frames.RentExtent(pages);
        NativeMemory.Clear(frame, (nuint)pages << _pageShift);
        var node = _ownVersions.PushNew(first, frame, pages, VersionFlags.Extent | VersionFlags.New);
        for (var i = 1; i < pages; i++)
            _ownVersions.PushNew(first + i, null, 0, VersionFlags.InsideExtent | VersionFlags.New);

        var header = (PageHeader*)frame;
        header->PageNumber = first;
        header->Kind = PageKind.Overflow;
        header->ExtentPages = (uint)pages;
        header->ExtentBytes = length;
        return new WritablePage(frame, &node->DirtyLines, 31);
    }

    public override WritablePage ModifyExtent(PageNumber first)
    {
        _engine.AssertWriterHeld();
        var node = _versions.Newest(first.Value);
        if (!_ownVersions.IsWritable(node))
        {
            var source = (PageHeader*)Read(first);
            var pages = (int)source->ExtentPages;
            _ownVersions.ThrowIfTooLarge((long)pages << _pageShift);
            _ownVersions.EnsureRoom(1);
            var frame = _engine.Frames.RentExtent(pages);
            NativeMemory.Copy(source, frame, (nuint)pages << _pageShift);
            var isNew = node != null && node->TransactionId == _ownVersions.Id ? node->Flags & VersionFlags.New : 0;
            node = _ownVersions.Push(first.Value, frame, pages, VersionFlags.Extent | isNew, 0);
        }

        return new WritablePage(node->Frame, &node->DirtyLines, 31);
    }

    public override void Free(PageNumber page)
    {
        _space.Free(page.Value, 1);
        _engine.Counters.FreedPages++;
        _ownVersions.AddTombstone(page.Value);
    }

    public override void FreeExtent(PageNumber first, int pages)
    {
        _space.Free(first.Value, pages);
        _engine.Counters.FreedPages += pages;
        _freedInExtents += pages;
        for (var i = 0; i < pages; i++)
            _ownVersions.AddTombstone(first.Value + i);

        // If the same transaction wrote the extent, there is nothing to record about it except that it is free.
        _directExtents.TryFree(first.Value, _ownVersions.Stamp);
    }

    /// <summary>
    /// Allocates an extent that no snapshot reads and no flush writes, to be written directly to the data file. Its pages have no
    /// version; the caller reports them with <see cref="AddDirectExtent"/> once they are written.
    /// </summary>
    /// <exception cref="StorageFullException">There is not enough space, even after a flush of the pages that earlier transactions freed.</exception>
    public long AllocateUntouchedExtent(long pages)
    {
        _engine.Counters.AllocatedPages += pages;
        try
        {
            return _engine.Distrust(_space.AllocateExtent(pages, untouched: true), pages);
        }
        catch (StorageFullException)
        {
            if (_engine.FlushServices?.TryFlush() != true)
                throw;
        }

        return _engine.Distrust(_space.AllocateExtent(pages, untouched: true), pages);
    }

    /// <summary>Allocates pages at the end of the file.</summary>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    public void Extend(long pages)
    {
        _engine.Counters.AllocatedPages += pages;
        _space.Map.Extend(pages);
    }

    public void AddDirectExtent(in TransactionExtent extent)
    {
        _engine.AssertWriterHeld();
        _engine.Distrust(extent.FirstPage, extent.Pages);
        _directExtents.Add(extent);
    }

    /// <summary>Takes a staged value, unless the transaction is rolled back to an earlier savepoint, or as a whole.</summary>
    /// <param name="value">The value.</param>
    /// <inheritdoc cref="StagedContent.Take"/>
    /// <exception cref="ArgumentException">The value was staged in another environment.</exception>
    public void Take(StagedContent value)
    {
        if (value.Engine != _engine)
        {
            throw new ArgumentException(
                $"The value was staged in another environment, in '{value.Engine.Disk.Path}'. Stage it in that of '{_engine.Disk.Path}'.", nameof(value));
        }

        _directExtents.Take(value, _ownVersions.Stamp);
    }

    /// <summary>Begins a savepoint inside the open ones: changes made from here on can be rolled back.</summary>
    /// <exception cref="InvalidOperationException">There have been too many savepoints in this transaction.</exception>
    public void Mark()
    {
        _engine.AssertWriterHeld();
        _marks.EnsureCapacity(_marks.Count + 1);
        var stamp = _ownVersions.BeginSavepoint();
        _marks.Add(new CopyOnWriteMark(_directExtents.Count, stamp, _state, _ownVersions.ChangedBytes));
    }

    /// <summary>Ends a savepoint, with those inside it, and keeps the changes made since.</summary>
    /// <param name="mark">The number of the savepoint, from 0 for the outermost.</param>
    public void Release(int mark)
    {
        _engine.AssertWriterHeld();
        Debug.Assert(mark <= _marks.Count, "Only savepoints that are open can end.");
        _ownVersions.EndSavepoints(mark, mark == 0 ? 0 : _marks[mark - 1].Stamp);
        _marks.RemoveRange(mark, _marks.Count - mark);
    }

    /// <summary>Rolls back all changes since a savepoint, which stays open; those inside it end.</summary>
    /// <inheritdoc cref="Release"/>
    public void RollbackTo(int mark)
    {
        _engine.AssertWriterHeld();
        LargeValueBuffer?.Settle();
        var at = _marks[mark];
        _ownVersions.RollBackTo(mark, at.Stamp, at.ChangedBytes);
        _directExtents.RollBack(at.DirectExtents, at.Stamp);
        _state = at.State;
        _marks.RemoveRange(mark + 1, _marks.Count - mark - 1);
        _space.Forget();
    }

    /// <summary>Rolls back the whole transaction.</summary>
    public void Rollback()
    {
        _engine.AssertWriterHeld();
        LargeValueBuffer?.Discard();
        if (_ownVersions.Count > 0 || _directExtents.Count > 0)
            _space.Forget();
        _ownVersions.RollBack();
        _directExtents.RollBack(count: 0, stamp: 0);
        EndLists();

        // The section maps may also be read between transactions.
        _state = _begun;
    }

    /// <summary>Returns the changed pages in the order of their first change, each with its newest version. Ends all savepoints.</summary>
    public ReadOnlySpan<PushedVersion> FinalVersions()
    {
        Release(0);
        return _ownVersions.Compact();
    }

    /// <summary>Returns the version that a page had before this transaction; null when the page was in the data file, or did not exist.</summary>
    public VersionNode* PreviousVersion(VersionNode* node) => _versions.Follow(node->Older);

    /// <summary>Releases the changes, which have been submitted.</summary>
    public void End()
    {
        Debug.Assert(LargeValueBuffer is not { HasBytes: true }, "All values must have been written before the transaction ends.");
        EndLists();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private VersionNode* Copy(long page, VersionNode* node)
    {
        _ownVersions.ThrowIfTooLarge(PageSize);
        var source = Read(new PageNumber(page));
        ulong dirtyLines = 0;
        var flags = VersionFlags.None;
        if (node != null && node->TransactionId == _ownVersions.Id)
        {
            Debug.Assert((node->Flags & VersionFlags.Extent) == 0, "An extent must be copied as a whole.");
            flags = node->Flags & (VersionFlags.New | VersionFlags.Untouched);
            dirtyLines = PlantedFault.DiffAgainstSavepoint ? 0 : node->DirtyLines;
        }

        _ownVersions.EnsureRoom(1);
        var frame = _engine.Frames.Rent();
        NativeMemory.Copy(source, frame, (nuint)PageSize);
        return _ownVersions.Push(page, frame, 1, flags, dirtyLines);
    }

    private WritablePage AddPage(long page, PageKind kind)
    {
        _ownVersions.EnsureRoom(1);
        var frame = _engine.Frames.Rent();
        NativeMemory.Clear(frame, (nuint)PageSize);
        var node = _ownVersions.PushNew(page, frame, 1, VersionFlags.New);
        var header = (PageHeader*)frame;
        header->PageNumber = page;
        header->Kind = kind;
        return new WritablePage(frame, &node->DirtyLines, _lineShift);
    }

    // Returns the memory that a large transaction needed.
    private void EndLists()
    {
        _engine.AssertWriterHeld();
        _ownVersions.Clear();
        _directExtents.Clear();
        _marks.Clear();
        if (_marks.Capacity > MaxKeptEntries)
            _marks.Capacity = 0;
    }
}

/// <summary>The place where a savepoint began.</summary>
internal readonly record struct CopyOnWriteMark(int DirectExtents, int Stamp, EnvironmentState State, long ChangedBytes);
