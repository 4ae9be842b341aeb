using System.Numerics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.KeyHeads;

namespace Voron.Tests.Trees;

/// <summary>
/// Pages in native memory that make misuse visible: a page modified for the first time moves, and its old place is poisoned
/// at the next call; freed pages are poisoned; every frame has guards around it; at the end of a transaction each changed
/// byte must lie in a line that was marked.
/// </summary>
internal sealed unsafe class FakePages : PageWriter, IDisposable
{
    private const byte Poison = 0xDD;
    private const byte Guard = 0xA5;
    private const int GuardBytes = 64;

    private readonly int _pageSize;
    private readonly List<Frame> _toPoison = [];
    private readonly List<Frame> _dead = [];
    private readonly HashSet<Frame> _touched = [];
    private readonly Stack<long> _free = new();
    private Frame?[] _frames = new Frame?[64];
    private long _next = 1;

    /// <param name="dataFileKeyHeadBytes">If above 0, pages that the transaction has not touched count as data-file pages with key
    /// heads.</param>
    public FakePages(int pageSize = 4096, long dataFileKeyHeadBytes = 0)
    {
        _pageSize = pageSize;
        var dataFile = dataFileKeyHeadBytes > 0 ? new DataFileKeyHeads(pageSize, dataFileKeyHeadBytes) : null;
        KeyHeads = new TransactionKeyHeads(dataFile, new BranchKeyHeads(pageSize, 1 << 20));
    }

    public override int PageSize => _pageSize;

    public override string FilePath => "memory";

    public override long PageCount => _next;

    /// <summary>For the trees over these pages.</summary>
    public TransactionKeyHeads KeyHeads { get; }

    /// <summary>The lowest page number that was never given out.</summary>
    public long PageLimit => _next;

    /// <summary>The number of bytes that the last transaction changed in pages that it had not created.</summary>
    public int ChangedBytes { get; private set; }

    /// <summary>The number of pages that can still be allocated.</summary>
    public int PagesLeft { get; set; } = int.MaxValue;

    public long PagesInUse
    {
        get
        {
            long pages = 0;
            foreach (var frame in _frames)
                pages += frame?.Pages ?? 0;
            return pages;
        }
    }

    /// <summary>The number of times that a leaf was read.</summary>
    public int LeafReads { get; set; }

    /// <summary>The number of pages that the transaction has changed or created, and not freed.</summary>
    public int TouchedPages => _touched.Count;

    /// <summary>The number of further pages that can be read before one cannot; below zero, all can be read.</summary>
    public int FailReadAfter { get; set; } = -1;

    public override uint TreeMark(uint treeId) => treeId + 1;

    public override byte* Read(PageNumber page)
    {
        if (FailReadAfter >= 0 && FailReadAfter-- == 0)
            throw new CorruptionException($"page {page} cannot be read, as planned");
        var bytes = Find(page).Bytes;
        LeafReads += ((PageHeader*)bytes)->Kind == PageKind.Leaf ? 1 : 0;
        return bytes;
    }

    public override byte* Peek(PageNumber page) => Find(page).Bytes;

    public override byte* DataFilePage(PageNumber page)
    {
        var frame = Find(page);
        return _touched.Contains(frame) ? null : frame.Bytes;
    }

    public override void PrefetchVersions(PageNumber* pages, int count)
    {
        // There is no table to find versions by.
    }

    public override byte* PeekUnlessWritable(PageNumber page) => Find(page).Bytes;

    public override ReadOnlySpan<byte> ReadLarge(scoped in LargeExtentReference reference, long offset, int count) =>
        throw new NotSupportedException("These pages have no file to write large values to.");

    public override WritablePage Modify(PageNumber page)
    {
        var frame = Find(page);
        if (frame.Pages != 1 || ((PageHeader*)frame.Bytes)->Kind == PageKind.Overflow)
            throw new InvalidOperationException($"page {page} is a run");
        return MakeWritable(page, frame);
    }

    public override WritablePage Allocate(PageKind kind, PageNumber near)
    {
        PoisonOld();
        TakeBudget(1);
        if (!_free.TryPop(out var number))
            number = _next++;
        var frame = NewFrame(number, 1);
        ((PageHeader*)frame.Bytes)->Kind = kind;
        return frame.Writable();
    }

    public override WritablePage AllocateExtent(long length, PageNumber near)
    {
        PoisonOld();
        var pages = (int)((length + PageHeader.Size + _pageSize - 1) / _pageSize);
        TakeBudget(pages);
        var number = _next;
        _next += pages;
        var frame = NewFrame(number, pages);
        var header = (PageHeader*)frame.Bytes;
        header->Kind = PageKind.Overflow;
        header->ExtentPages = (uint)pages;
        header->ExtentBytes = length;
        return frame.Writable();
    }

    public override WritablePage ModifyExtent(PageNumber first)
    {
        var frame = Find(first);
        if (((PageHeader*)frame.Bytes)->Kind != PageKind.Overflow)
            throw new InvalidOperationException($"page {first} is no run");
        return MakeWritable(first, frame);
    }

    public override void Free(PageNumber page) => FreeFrame(page, 1);

    public override void FreeExtent(PageNumber first, int pages) => FreeFrame(first, pages);

    /// <summary>Makes each page move again at its first change from here on.</summary>
    public void Savepoint()
    {
        foreach (var frame in _touched)
            frame.IsWritable = false;
    }

    /// <summary>Checks the marks and the guards, and starts another transaction.</summary>
    public void EndTransaction()
    {
        PoisonOld();
        ChangedBytes = 0;
        foreach (var frame in _touched)
        {
            KeyHeads.DataFile?.Invalidate(new PageNumber(frame.Number));
            frame.CheckGuards(Guard, GuardBytes);
            ChangedBytes += frame.CheckMarks();
            frame.IsWritable = false;
            frame.Before = null;
            *frame.DirtyLines = 0;
        }

        _touched.Clear();
        foreach (var frame in _dead)
            frame.Release();
        _dead.Clear();
    }

    /// <summary>Returns the bytes of a page, to be changed behind the back of the tree.</summary>
    public byte* Damage(PageNumber page) => Find(page).Bytes;

    public void Dispose()
    {
        KeyHeads.Branches!.Dispose();
        KeyHeads.DataFile?.Dispose();
        foreach (var frame in _frames)
            frame?.Release();
        foreach (var frame in _dead)
            frame.Release();
        foreach (var frame in _toPoison)
            frame.Release();
        _frames = [];
    }

    private Frame Find(PageNumber page)
    {
        var frame = page.Value > 0 && page.Value < _frames.Length ? _frames[page.Value] : null;
        return frame ?? throw new InvalidOperationException($"page {page} is not in use");
    }

    private WritablePage MakeWritable(PageNumber page, Frame frame)
    {
        PoisonOld();
        KeyHeads.Branches!.Invalidate(page);
        if (frame.IsWritable)
            return frame.Writable();

        var copy = new Frame(frame.Pages, _pageSize, Guard, GuardBytes)
        {
            Number = page.Value,
            IsWritable = true,
            Before = frame.Before ?? frame.Content.ToArray(),
            IsNew = frame.IsNew && _touched.Contains(frame),
        };
        frame.Content.CopyTo(copy.Content);
        *copy.DirtyLines = _touched.Contains(frame) ? *frame.DirtyLines : 0;
        _frames[page.Value] = copy;
        _touched.Remove(frame);
        _touched.Add(copy);
        _toPoison.Add(frame);
        return copy.Writable();
    }

    private Frame NewFrame(long number, int pages)
    {
        var frame = new Frame(pages, _pageSize, Guard, GuardBytes) { Number = number, IsWritable = true, IsNew = true };
        frame.Content.Clear();
        ((PageHeader*)frame.Bytes)->PageNumber = number;
        if (number >= _frames.Length)
            Array.Resize(ref _frames, (int)Math.Max(number + 1, _frames.Length * 2));
        _frames[number] = frame;
        _touched.Add(frame);
        return frame;
    }

    private void FreeFrame(PageNumber page, int pages)
    {
        PoisonOld();
        KeyHeads.Branches!.Invalidate(page);
        var frame = _frames[page.Value] ?? throw new CorruptionException($"page {page} is not in use, as the map of free pages shows");
        if (frame.Pages != pages)
            throw new InvalidOperationException($"page {page} has {frame.Pages} pages, {pages} are freed");

        frame.CheckGuards(Guard, GuardBytes);
        _frames[page.Value] = null;
        _touched.Remove(frame);
        frame.Content.Fill(Poison);
        _dead.Add(frame);
        if (pages == 1)
            _free.Push(page.Value);
    }

    private void TakeBudget(int pages)
    {
        if (PagesLeft < pages)
            throw new StorageFullException("no pages left");
        PagesLeft -= pages;
    }

    private void PoisonOld()
    {
        foreach (var frame in _toPoison)
        {
            frame.Content.Fill(Poison);
            _dead.Add(frame);
        }

        _toPoison.Clear();
    }

    private sealed class Frame
    {
        private readonly byte* _memory;
        private readonly int _lineShift;
        private readonly int _pageSize;

        public Frame(int pages, int pageSize, byte guard, int guardBytes)
        {
            Pages = pages;
            _pageSize = pageSize;
            var length = (nuint)pages * (nuint)pageSize;
            _memory = (byte*)NativeMemory.AlignedAlloc(length + 2 * (nuint)guardBytes, 64);
            Bytes = _memory + guardBytes;
            new Span<byte>(_memory, guardBytes).Fill(guard);
            new Span<byte>(Bytes + length, guardBytes).Fill(guard);
            DirtyLines = (ulong*)NativeMemory.AllocZeroed(sizeof(ulong));
            _lineShift = BitOperations.Log2(BitOperations.RoundUpToPowerOf2((ulong)length)) - 6;
        }

        public byte* Bytes { get; }

        public ulong* DirtyLines { get; }

        public int Pages { get; }

        public long Number { get; init; }

        public bool IsWritable { get; set; }

        public bool IsNew { get; init; }

        public byte[]? Before { get; set; }

        public Span<byte> Content => new(Bytes, Pages * _pageSize);

        public WritablePage Writable() => new(Bytes, DirtyLines, _lineShift);

        public void CheckGuards(byte guard, int guardBytes)
        {
            if (new Span<byte>(_memory, guardBytes).ContainsAnyExcept(guard)
                || new Span<byte>(Bytes + Content.Length, guardBytes).ContainsAnyExcept(guard))
                throw new InvalidOperationException($"page {Number}: bytes outside of the page were written");
        }

        public int CheckMarks()
        {
            if (IsNew || Before == null)
                return 0;

            var changed = 0;
            for (var i = PageHeader.UnjournaledBytes; i < Before.Length; i++)
            {
                if (Before[i] == Bytes[i])
                    continue;
                changed++;
                if ((*DirtyLines >> (i >> _lineShift) & 1) == 0)
                    throw new InvalidOperationException($"page {Number}: byte {i} was changed and not marked");
            }

            return changed;
        }

        public void Release()
        {
            NativeMemory.AlignedFree(_memory);
            NativeMemory.Free(DirtyLines);
        }
    }
}
