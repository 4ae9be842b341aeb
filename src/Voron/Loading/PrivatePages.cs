using System.Diagnostics;
using System.Numerics;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;
using Voron.Flushing;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees.Pages;

namespace Voron.Loading;

/// <summary>The pages of a tree that no transaction knows yet: written to reserved pages of the data file, past writer and journal.</summary>
/// <remarks>
/// A tree that is filled in key order changes only the pages of its right edge, so few pages are in memory at a time, and each is written about once.
/// Those that have not been used lately are written by a pool thread while the tree grows. A page that has left memory and is needed again is read
/// back and verified. No reader knows the pages until a transaction adopts them.
/// Addresses are valid until the next <see cref="Trim"/>. Used by one thread at a time.
/// </remarks>
internal sealed unsafe class PrivatePages : PageWriter, IDisposable
{
    private const long MostRoundBytes = 4 << 20;
    private const int MostRounds = 3;
    private const long QuietPieceBytes = 1 << 20;
    private const long QuietMilliseconds = 1000;

    private readonly ReadingEngine _engine;
    private readonly LoadSpace _space;
    private readonly int _pageShift;
    private readonly Dictionary<long, Frame> _frames = [];
    private readonly Stack<Frame> _spare = [];
    private readonly PageWrite _write;

    // Belong to the write while it is under way.
    private readonly List<Frame> _leaving = [];
    private long _lastTransactionId;
    private long _quietSince;

    // Nothing is journaled, so nothing reads which lines have changed.
    private ulong* _dirtyLines;

    // The bytes that come into memory in a round. At its end, pages that it has not used are written and leave memory.
    private readonly long _roundBytes;

    private long _round;
    private long _bytesOfRound;

    // The frame that was found last: mostly that of the leaf which is being filled.
    private Frame? _last;
    private bool _isWriting;

    /// <param name="engine">The environment.</param>
    /// <param name="space">The reserved pages.</param>
    public PrivatePages(ReadingEngine engine, LoadSpace space)
    {
        _engine = engine;
        _space = space;
        _roundBytes = Math.Min(MostRoundBytes, engine.Options.ScratchMemoryBytes / 128);
        _write = new PageWrite(this);
        _pageShift = BitOperations.Log2((uint)engine.PageSize);
        _dirtyLines = (ulong*)EngineMemory.AllocateZeroed(sizeof(ulong));
    }

    /// <inheritdoc/>
    public override int PageSize => _engine.PageSize;

    /// <inheritdoc/>
    public override string FilePath => _engine.DataFile.File.Path;

    /// <inheritdoc/>
    public override byte* Read(PageNumber page) => Find(page.Value).Bytes;

    /// <inheritdoc/>
    public override byte* Peek(PageNumber page) => _frames.TryGetValue(page.Value, out var frame) ? frame.Bytes : null;

    /// <inheritdoc/>
    public override byte* PeekUnlessWritable(PageNumber page) => null;

    /// <inheritdoc/>
    public override void PrefetchVersions(PageNumber* pages, int count)
    {
    }

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> ReadLarge(scoped in LargeExtentReference reference, long offset, int count) =>
        throw new UnreachableException("A bulk load reads no values back.");

    /// <inheritdoc/>
    public override uint TreeMark(uint treeId) => _engine.Format.TreeMark(treeId);

    /// <inheritdoc/>
    public override WritablePage Modify(PageNumber page) => Modify(Find(page.Value));

    /// <inheritdoc/>
    public override WritablePage ModifyExtent(PageNumber first) => Modify(Find(first.Value));

    /// <inheritdoc/>
    public override WritablePage Allocate(PageKind kind, PageNumber near)
    {
        var frame = Add(_space.AllocatePage(), 1);
        ((PageHeader*)frame.Bytes)->Kind = kind;
        return Modify(frame);
    }

    /// <inheritdoc/>
    public override WritablePage AllocateExtent(long length, PageNumber near)
    {
        var pages = TreeLimits.OverflowPages(PageSize, length);
        var frame = Add(_space.AllocateExtent(pages), pages);
        var header = (PageHeader*)frame.Bytes;
        header->Kind = PageKind.Overflow;
        header->ExtentPages = (uint)pages;
        header->ExtentBytes = length;
        return Modify(frame);
    }

    /// <inheritdoc/>
    public override void Free(PageNumber page) => FreeExtent(page, 1);

    /// <inheritdoc/>
    public override void FreeExtent(PageNumber first, int pages)
    {
        _last = null;
        if (_frames.Remove(first.Value, out var frame))
            Recycle(frame);
        _space.Free(first.Value, pages);
    }

    /// <summary>Writes pages that were not used lately, if many have come into memory. Called between two changes of the tree.</summary>
    /// <inheritdoc cref="WriteAll"/>
    public void Trim()
    {
        if (_bytesOfRound >= _roundBytes)
            EndRound();
    }

    private void EndRound()
    {
        EndWrite();
        _leaving.EnsureCapacity(_frames.Count);

        // Pages that every round uses must leave, too, if they are many.
        var isCrowded = (long)_frames.Count << _pageShift > MostRounds * _roundBytes;
        foreach (var frame in _frames.Values)
        {
            if (frame.LastUse < _round || isCrowded)
                _leaving.Add(frame);
        }

        _last = null;
        _round++;
        _bytesOfRound = 0;
        BeginWrite(toPool: _engine.Options.BackgroundFlush);
    }

    /// <summary>Writes the pages that are in memory. They are durable after a sync.</summary>
    /// <exception cref="StorageFullException">There is not enough space for them.</exception>
    /// <exception cref="StorageAccessException">They could not be written.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public void WriteAll()
    {
        EndWrite();
        _last = null;
        _leaving.AddRange(_frames.Values);
        BeginWrite(toPool: false);
        EndWrite();
    }

    public void Dispose()
    {
        _write.Cancel();
        if (_isWriting)
            _write.End();
        foreach (var frame in _frames.Values.Concat(_spare).Concat(_leaving))
            EngineMemory.FreeAligned(frame.Bytes);
        _frames.Clear();
        _spare.Clear();
        _leaving.Clear();
        EngineMemory.Free(_dirtyLines);
        _dirtyLines = null;
    }

    private WritablePage Modify(Frame frame)
    {
        frame.IsWritten &= PlantedFault.WriteLoadedOnce;
        return new WritablePage(frame.Bytes, _dirtyLines, lineShift: 31);
    }

    private Frame Find(long page)
    {
        if (_last is { } last && last.Page == page)
            return last;
        if (!_frames.TryGetValue(page, out var frame))
        {
            EndWrite();
            frame = ReadBack(page);
        }

        frame.LastUse = _round;
        return _last = frame;
    }

    // Zeroed except for the page number.
    private Frame Add(long page, int pages)
    {
        var frame = Rent(page, pages);
        NativeMemory.Clear(frame.Bytes, (nuint)pages << _pageShift);
        ((PageHeader*)frame.Bytes)->PageNumber = page;
        return frame;
    }

    private Frame Rent(long page, int pages)
    {
        // Ensured first, so that no memory is lost.
        _frames.EnsureCapacity(_frames.Count + 1);
        _spare.EnsureCapacity(_spare.Count + _frames.Count + _leaving.Count + 1);
        if (pages > 1 || !_spare.TryPop(out var frame))
            frame = new Frame((byte*)EngineMemory.AllocateAligned((nuint)pages << _pageShift, DiskRules.Alignment));
        (frame.Page, frame.Pages, frame.IsWritten, frame.LastUse) = (page, pages, false, _round);
        _frames.Add(page, frame);
        _bytesOfRound += (long)pages << _pageShift;
        return frame;
    }

    private void Recycle(Frame frame)
    {
        if (frame.Pages == 1)
            _spare.Push(frame);
        else
            EngineMemory.FreeAligned(frame.Bytes);
    }

    private Frame ReadBack(long page)
    {
        _engine.Users.AddCall();
        try
        {
            _engine.DataFile.Verify(page);
            var header = default(PageHeader);
            _engine.DataFile.File.Read(page << _pageShift, new Span<byte>(&header, sizeof(PageHeader)));
            var frame = Rent(page, header.Kind == PageKind.Overflow ? (int)header.ExtentPages : 1);
            _engine.DataFile.File.Read(page << _pageShift, new Span<byte>(frame.Bytes, frame.Pages << _pageShift));
            frame.IsWritten = true;
            return frame;
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"Page {page} of a bulk load could not be read back: {e.Message}", e);
        }
        finally
        {
            _engine.Users.RemoveCall();
        }
    }

    private void BeginWrite(bool toPool)
    {
        foreach (var frame in _leaving)
            _frames.Remove(frame.Page);
        _isWriting = true;
        _write.Offer(toPool);
    }

    private void EndWrite()
    {
        if (!_isWriting)
            return;
        _isWriting = false;
        var failure = _write.End();
        foreach (var frame in _leaving)
            Recycle(frame);
        _leaving.Clear();
        if (failure != null)
            ExceptionDispatchInfo.Throw(failure);
    }

    private void WriteLeaving()
    {
        _leaving.Sort(static (left, right) => left.Page.CompareTo(right.Page));
        _engine.Users.AddCall();
        try
        {
            _engine.Poison.ThrowIfPoisoned();
            WriteSorted();
        }
        catch (DiskException e)
        {
            throw DataFile.WriteFailure("the pages of a bulk load", e);
        }
        finally
        {
            _engine.Users.RemoveCall();
        }
    }

    private void WriteSorted()
    {
        // The hint in the headers of the pages: a transaction after all earlier uses of them, and before the one that will adopt them.
        var transactionId = _engine.Ring.PublishedId;

        // A commit waits for one piece. Longer ones make fewer trips to the device, where no caller has committed for a while.
        var now = Environment.TickCount64;
        if (transactionId != _lastTransactionId)
            (_lastTransactionId, _quietSince) = (transactionId, now);
        var pieceBytes = now - _quietSince < QuietMilliseconds ? FlushPacing.PieceBytes : QuietPieceBytes;
        var gathering = new PageGathering(_engine.DataFile, stackalloc IoBlock[PageGathering.MaxBlocks], pieceBytes);
        foreach (var frame in _leaving)
        {
            if (frame.IsWritten)
                continue;
            var bytes = (long)frame.Pages << _pageShift;
            _engine.Distrust(frame.Page, frame.Pages);
            _engine.DataFile.SetChecksum(frame.Page, frame.Bytes, bytes, transactionId);
            if (!gathering.TryAdd(frame.Page, frame.Bytes, frame.Pages))
            {
                Write(ref gathering);
                gathering.TryAdd(frame.Page, frame.Bytes, frame.Pages);
            }
        }

        Write(ref gathering);
        foreach (var frame in _leaving)
            _engine.Distrust(frame.Page, frame.Pages);
    }

    // In pieces, and without leaving dirty pages behind, so that commits meanwhile find the device free.
    private void Write(ref PageGathering gathering)
    {
        var bytes = gathering.Bytes;
        if (bytes == 0)
            return;
        gathering.Write();
        _engine.DataFile.TryWriteBack((gathering.Next << _pageShift) - bytes, bytes);
    }

    private sealed class PageWrite(PrivatePages pages) : OfferedWork
    {
        protected override void Work() => pages.WriteLeaving();
    }

    /// <summary>The memory of a page, or of an extent.</summary>
    private sealed class Frame(byte* bytes)
    {
        public byte* Bytes { get; } = bytes;

        public long Page { get; set; }

        public int Pages { get; set; }

        /// <summary>True if the data file has these bytes.</summary>
        public bool IsWritten { get; set; }

        public long LastUse { get; set; }
    }
}
