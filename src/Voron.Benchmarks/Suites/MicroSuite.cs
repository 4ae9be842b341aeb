using System.Diagnostics.CodeAnalysis;
using BenchmarkDotNet.Attributes;
using Voron.Compression;
using Voron.Format;
using Voron.Journal;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Benchmarks.Suites;

/// <summary>The steps of a transaction, each alone and in the first-level cache.</summary>
[MemoryDiagnoser]
[SuppressMessage("Design", "CA1001", Justification = "BenchmarkDotNet calls the cleanup, not Dispose.")]
public unsafe class MicroSuite
{
    private const int PageSize = 4096;
    private const int LineShift = 6;
    private const int EntriesPerPage = 20;
    private const int ValueBytes = ItemGenerator.ValueBytes;
    private const int RecordBytes = LeafRecordHeader.Size + ItemGenerator.KeyBytes + ValueBytes;
    private const int TablePages = 8192;

    private readonly ItemGenerator _generator = new(KeyOrder.Sequential);
    private byte* _memory;
    private byte* _page;
    private byte* _previous;
    private byte* _scratch;
    private byte* _target;
    private byte* _compressed;
    private byte* _key;
    private int _compressedLength;
    private ulong _dirtyLines;
    private int _next;
    private VersionTable? _versions;

    [GlobalSetup]
    public void Prepare()
    {
        _memory = (byte*)NativeMemory.AlignedAlloc(16 * PageSize, PageSize);
        new Span<byte>(_memory, 16 * PageSize).Clear();
        _page = _memory;
        _previous = _memory + PageSize;
        _scratch = _memory + (2 * PageSize);
        _key = _memory + (3 * PageSize);
        _target = _memory + (4 * PageSize);
        _compressed = _memory + (8 * PageSize);
        FillPage(_page);
        new Span<byte>(_page, PageSize).CopyTo(new Span<byte>(_previous, PageSize));
        _previous[2000] ^= 0x55;
        _previous[3000] ^= 0x55;
        _dirtyLines = (1UL << (2000 >> LineShift)) | (1UL << (3000 >> LineShift));
        _compressedLength = Lz4Block.Compress(_page, PageSize, _compressed, 2 * PageSize);
        _versions = new VersionTable(TablePages);
        _versions.EnsureCapacity(TablePages);
        for (var page = 0; page < TablePages; page++)
            _versions.Push(page, transactionId: 5, level: 0, _page, pages: 1, default);
    }

    [GlobalCleanup]
    public void Release()
    {
        _versions?.Dispose();
        NativeMemory.AlignedFree(_memory);
    }

    [Benchmark]
    public int SearchPage()
    {
        _generator.WriteKey(_next++ % EntriesPerPage, new Span<byte>(_key, ItemGenerator.KeyBytes));
        return LeafPage.Search(_page, new SearchKey(_key, ItemGenerator.KeyBytes));
    }

    /// <summary>Fills an empty page. The time is divided by the number of its entries.</summary>
    [Benchmark(OperationsPerInvoke = EntriesPerPage)]
    public void InsertIntoPage() => FillPage(_scratch);

    [Benchmark]
    public long DiffOfTwoLines() => PageDiff.Write(_target, _page, _previous, PageSize, _dirtyLines) - _target;

    [Benchmark]
    public long DiffAgainstZeros() => PageDiff.Write(_target, _page, null, PageSize, ulong.MaxValue) - _target;

    [Benchmark]
    public int Compress() => Lz4Block.Compress(_page, PageSize, _target, 4 * PageSize);

    [Benchmark]
    public int Decompress() => Lz4Block.Decompress(_compressed, _compressedLength, _target, PageSize);

    [Benchmark]
    public ulong ChecksumOfPage() => Checksum.Compute(_page, PageSize, seed: 1);

    [Benchmark]
    public bool FindVersion() => _versions!.Find(_next++ % TablePages, snapshot: 7, out _);

    private void FillPage(byte* bytes)
    {
        new Span<byte>(bytes, PageSize).Clear();
        ulong dirty = 0;
        var page = new WritablePage(bytes, &dirty, LineShift);
        SlottedPage.Initialize(page, PageSize, treeMark: 1);
        for (var i = 0; i < EntriesPerPage; i++)
        {
            var offset = SlottedPage.MakeRoom<LeafPage>(page, PageSize, RecordBytes, newSlot: true);
            SlottedPage.InsertSlot(page, i, offset);
            var record = (LeafRecordHeader*)(bytes + offset);
            record->KeyLengthAndKind = ItemGenerator.KeyBytes;
            record->InlineLength = ValueBytes;
            _generator.WriteKey(i, new Span<byte>(bytes + offset + LeafRecordHeader.Size, ItemGenerator.KeyBytes));
            ItemGenerator.WriteRandomValue(i, 0, new Span<byte>(bytes + offset + LeafRecordHeader.Size + ItemGenerator.KeyBytes, ValueBytes));
        }
    }
}
