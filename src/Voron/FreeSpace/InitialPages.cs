using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;

namespace Voron.FreeSpace;

/// <summary>The pages of an environment that has just been created: the root, one directory page, the map of the first group.</summary>
internal sealed unsafe class InitialPages : ISpacePages, IDisposable
{
    public const int Count = 3;

    private readonly int _pageSize;
    private readonly byte* _pages;
    private readonly ulong* _dirtyLines;

    public InitialPages(SectionMapLayout layout)
    {
        _pageSize = layout.PageSize;
        _pages = (byte*)EngineMemory.AllocateAligned((nuint)(Count * _pageSize), 4096);
        NativeMemory.Clear(_pages, (nuint)(Count * _pageSize));
        try
        {
            _dirtyLines = (ulong*)EngineMemory.AllocateZeroed(sizeof(ulong));
            new SectionMap(layout, this).Create();
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    public string FilePath => "a new data file";

    public long PageCount { get; set; }

    public ReadOnlySpan<byte> Bytes => new(_pages, Count * _pageSize);

    public PageHeader* Header(long page) => (PageHeader*)(_pages + page * _pageSize);

    public void EnsureCapacity(long pageCount)
    {
    }

    public void EnsureBlocks(long firstPage, long pages)
    {
    }

    public byte* ReadPage(long page) => _pages + page * _pageSize;

    public WritablePage ModifyPage(long page) => new(ReadPage(page), _dirtyLines, 31);

    public WritablePage AddPage(long page, PageKind kind)
    {
        Header(page)->PageNumber = page;
        Header(page)->Kind = kind;
        return ModifyPage(page);
    }

    public bool HasVersion(long page) => false;

    public void Dispose()
    {
        EngineMemory.FreeAligned(_pages);
        EngineMemory.Free(_dirtyLines);
    }
}
