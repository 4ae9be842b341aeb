using System.Runtime.InteropServices;
using Voron.Format;
using Voron.FreeSpace;
using Voron.Paging;

namespace Voron.Tests.FreeSpace;

/// <summary>Keeps the pages that section maps need in memory: only maps have bytes.</summary>
internal sealed unsafe class FakeSpace : ISpacePages, IDisposable
{
    private readonly int _pageSize;
    private readonly ulong* _dirtyLines = (ulong*)NativeMemory.AllocZeroed(sizeof(ulong));
    private Dictionary<long, nint> _pages = [];
    private Dictionary<long, byte[]> _saved = [];
    private long _savedPageCount;

    public FakeSpace(int pageSize)
    {
        _pageSize = pageSize;
        Layout = new SectionMapLayout(pageSize);
        new SectionMap(Layout, this).Create();
    }

    public SectionMapLayout Layout { get; }

    public string FilePath => "memory";

    public long PageCount { get; set; }

    public long Capacity { get; private set; }

    /// <summary>The pages that are reported as having a version.</summary>
    public HashSet<long> Touched { get; } = [];

    public IReadOnlyCollection<long> MapPages => _pages.Keys;

    public void Save()
    {
        _savedPageCount = PageCount;
        _saved = _pages.ToDictionary(page => page.Key, page => new ReadOnlySpan<byte>((void*)page.Value, _pageSize).ToArray());
    }

    public void RollBack()
    {
        PageCount = _savedPageCount;
        var pages = new Dictionary<long, nint>();
        foreach (var (number, bytes) in _saved)
        {
            bytes.CopyTo(new Span<byte>((void*)_pages[number], _pageSize));
            pages[number] = _pages[number];
            _pages.Remove(number);
        }

        FreeAll();
        _pages = pages;
    }

    /// <summary>The pages that may have no blocks; null if these are not tracked.</summary>
    public PossibleHoles? PossibleHoles { get; set; }

    public void EnsureBlocks(long firstPage, long pages) => PossibleHoles?.Fill(firstPage, pages);

    public ulong* Holes(long section) => PossibleHoles == null ? null : PossibleHoles.Bits(section);

    public void EnsureCapacity(long pageCount) => Capacity = Math.Max(Capacity, pageCount);

    public byte* ReadPage(long page) => (byte*)_pages[page];

    public WritablePage ModifyPage(long page) => new(ReadPage(page), _dirtyLines, 31);

    public WritablePage AddPage(long page, PageKind kind)
    {
        var bytes = (byte*)NativeMemory.AllocZeroed((nuint)_pageSize);
        _pages.Add(page, (nint)bytes);
        ((PageHeader*)bytes)->PageNumber = page;
        ((PageHeader*)bytes)->Kind = kind;
        return ModifyPage(page);
    }

    public bool HasVersion(long page) => Touched.Contains(page);

    public void Dispose()
    {
        FreeAll();
        NativeMemory.Free(_dirtyLines);
    }

    private void FreeAll()
    {
        foreach (var bytes in _pages.Values)
            NativeMemory.Free((void*)bytes);
    }
}
