using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Testing;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <summary>Reads the values of leaves, each intact or not at all.</summary>
/// <remarks>
/// A value of up to <see cref="PieceBytes"/> is read once. A longer one is checked completely before its first piece is returned, and its chunks
/// are checked again when they are read the second time.
/// </remarks>
/// <param name="pages">The pages.</param>
/// <param name="owned">The pages owned by trees and values.</param>
/// <param name="dictionaries">The dictionaries of compressed values.</param>
internal sealed unsafe partial class ValueSource(SalvagePages pages, PageBitmap owned, SalvagedDictionaries dictionaries) : IDisposable
{
    /// <summary>The largest part of a value in memory at a time, in bytes: a multiple of the chunk size.</summary>
    public const int PieceBytes = 1 << 20;

    private const int ChunkBytes = LargeExtentReference.ChunkBytes;
    private const int MaxPageBytes = 64 << 10;

    // With space for the header and the end of an extent.
    private readonly byte* _piece = (byte*)EngineMemory.AllocateAligned(PieceBytes + 2 * MaxPageBytes, 4096);
    private readonly byte* _page = (byte*)EngineMemory.AllocateAligned((nuint)pages.PageSize, 4096);
    private readonly byte* _unpacked = (byte*)EngineMemory.AllocateAligned(PackedValue.MostBytes, 4096);
    private ulong[] _sums = [];

    // The value, if all of it is in memory.
    private byte* _frame;
    private Checksum.Stream _stream;
    private ulong _checksum;
    private long _newest;
    private long _first;
    private ValueKind _kind;

    /// <summary>True while values are only inspected: their pages get no owner.</summary>
    public bool IsPeeking { get; set; }

    /// <summary>The length of the value in bytes.</summary>
    public long Length { get; private set; }

    /// <summary>Opens the value of a leaf's record, which stays in memory until the next one is opened.</summary>
    /// <param name="record">The record.</param>
    /// <param name="newest">
    /// The version of the leaf if it may be stale, because the pages of its value may belong to another value by now; otherwise the maximum.
    /// </param>
    /// <param name="treeId">The tree that the record belongs to; null if it is not known.</param>
    /// <returns>Null, or a sentence that describes why the value is lost.</returns>
    public string? TryOpen(byte* record, long newest, uint? treeId)
    {
        _kind = LeafPage.Kind(record);
        _frame = null;
        _newest = newest;
        if (_kind == ValueKind.Inline)
        {
            Length = LeafPage.InlineLength(record);
            _frame = LeafPage.InlineBytes(record);
            return null;
        }

        if (LeafPage.Packed(record) != null)
            return TryOpenPacked(record, treeId);
        if (_kind == ValueKind.Extended)
            return "it is a set of ids, or something that this program does not know, in the place of a value";
        var fault = _kind == ValueKind.Overflow
            ? TryOpenOverflow(*(OverflowReference*)LeafPage.InlineBytes(record))
            : TryOpenLarge(*(LargeExtentReference*)LeafPage.InlineBytes(record));
        if (fault != null || Length <= PieceBytes || _frame != null)
            return fault;
        for (var at = 0L; at < Length && fault == null; at += PieceBytes)
            fault = TryRead(at, out _);
        return fault;
    }

    /// <summary>Opens a value that is in memory, and stays there until the next one is opened.</summary>
    public void Open(byte* value, int length)
    {
        _kind = ValueKind.Inline;
        _frame = value;
        Length = length;
    }

    /// <summary>Reads a piece of the value.</summary>
    /// <param name="offset">The offset of the piece: a multiple of <see cref="PieceBytes"/>.</param>
    /// <param name="piece">The bytes, valid until the next call.</param>
    /// <returns>Null, or a sentence that describes why the piece is not intact.</returns>
    public string? TryRead(long offset, out ReadOnlySpan<byte> piece)
    {
        var count = (int)Math.Min(PieceBytes, Length - offset);
        if (_frame != null)
        {
            piece = new ReadOnlySpan<byte>(_frame + offset, count);
            return null;
        }

        piece = new ReadOnlySpan<byte>(_piece, count);
        if (_kind == ValueKind.Overflow)
            return ReadPieceOfExtent(offset, count);
        pages.ReadFile((_first << pages.PageShift) + offset, new Span<byte>(_piece, count));
        return CheckChunks(offset, count);
    }

    public void Dispose()
    {
        EngineMemory.FreeAligned(_piece);
        EngineMemory.FreeAligned(_page);
        EngineMemory.FreeAligned(_unpacked);
    }

    // The pieces are read in order, so the checksum of the extent is computed again.
    private string? ReadPieceOfExtent(long offset, int count)
    {
        if (offset == 0)
        {
            _stream = new Checksum.Stream();
            _stream.Add(_page + PageHeader.UnjournaledBytes, PageHeader.Size - PageHeader.UnjournaledBytes);
        }

        var isLast = offset + count == Length;
        var end = (long)TreeLimits.OverflowPages(pages.PageSize, Length) << pages.PageShift;
        var bytes = isLast ? (int)(end - PageHeader.Size - offset) : count;
        pages.ReadFile((_first << pages.PageShift) + PageHeader.Size + offset, new Span<byte>(_piece, bytes));
        _stream.Add(_piece, (nuint)bytes);
        return isLast && _stream.Finish(pages.Seed(_first)) != _checksum ? $"{pages.Describe(_first)} begins an extent that has changed while it was read." : null;
    }

    private string? TryOpenOverflow(in OverflowReference reference)
    {
        (_first, Length) = (reference.FirstPage, reference.Length);
        var extent = TreeLimits.OverflowPages(pages.PageSize, Length);
        if (TryOpenExtent(_first, Length, extent) is { } fault)
            return fault;
        if (!IsPeeking)
            owned.Set(_first, extent);
        return null;
    }

    // Finds the extent in memory, or checks the one in the data file.
    private string? TryOpenExtent(long first, long length, int count)
    {
        if (first <= 0 || first > pages.Capacity - count)
            return $"{pages.Describe(first)} should begin an extent of {count} pages, but there are only {pages.Capacity} pages.";
        var version = pages.FindVersion(first, out var versionPages, out var isFree);
        if (isFree)
            return $"{pages.Describe(first)} should begin the extent of a value, but is free.";
        if (version == null && pages.TryRead(first, _page) is { } fault)
            return fault;
        var header = (PageHeader*)(version != null ? version : _page);
        if (header->Kind != PageKind.Overflow || header->PageNumber != first || header->ExtentPages != count || header->ExtentBytes != length
            || (version != null && versionPages != count))
        {
            pages.NoteDamage(first, $"{pages.Describe(first)} should begin an extent of {count} pages with {length} bytes, but does not.");
            return $"{pages.Describe(first)} is not the extent of the value.";
        }

        var mayBeOld = _newest != long.MaxValue && !PlantedFault.BelieveUsedPlaces;
        if (mayBeOld && (owned.IsSet(first) || (_newest != 0 && pages.VersionOf(first, header) > _newest)))
            return $"{pages.Describe(first)} begins the extent of a newer value.";
        _frame = version != null ? version + PageHeader.Size : null;
        return version != null ? null : CheckExtent(first, count, header->Checksum);
    }

    private string? CheckExtent(long first, int count, ulong expected)
    {
        _checksum = expected;
        var bytes = (long)count << pages.PageShift;
        if (bytes <= PieceBytes + MaxPageBytes)
        {
            // Read once, so that nothing can change between the check and the use.
            pages.ReadFile(first << pages.PageShift, new Span<byte>(_piece, (int)bytes));
            _frame = _piece + PageHeader.Size;
            var length = (nuint)(bytes - PageHeader.UnjournaledBytes);
            return Compare(first, count, expected, Checksum.Compute(_piece + PageHeader.UnjournaledBytes, length, pages.Seed(first)));
        }

        var stream = new Checksum.Stream();
        stream.Add(_page + PageHeader.UnjournaledBytes, (nuint)(pages.PageSize - PageHeader.UnjournaledBytes));
        var end = (first + count) << pages.PageShift;
        for (var at = (first + 1) << pages.PageShift; at < end; at += PieceBytes)
        {
            var piece = new Span<byte>(_piece, (int)Math.Min(PieceBytes, end - at));
            pages.ReadFile(at, piece);
            stream.Add(_piece, (nuint)piece.Length);
        }

        return Compare(first, count, expected, stream.Finish(pages.Seed(first)));
    }

    private string? Compare(long first, int count, ulong expected, ulong actual)
    {
        if (actual == expected)
            return null;
        var fault = $"{pages.Describe(first)} begins a damaged extent of {count} pages: its checksum should be {expected:X16}, but is {actual:X16}.";
        pages.NoteDamage(first, fault, $"{expected:X16}", $"{actual:X16}");
        return fault;
    }

    private string? TryOpenLarge(in LargeExtentReference reference)
    {
        (_first, Length) = (reference.FirstPage, reference.Length);
        var count = LargeValues.PageCount(pages.PageSize, Length);
        if (_first <= 0 || _first > pages.Capacity - count)
            return $"{pages.Describe(_first)} should begin a value of {count} pages, but there are only {pages.Capacity} pages.";
        if (ReadSums(reference) is { } fault)
            return fault;
        owned.Set(_first, count);
        return null;
    }

    private string? ReadSums(in LargeExtentReference reference)
    {
        _sums = [reference.Checksums];
        if (reference.IsOneChunk)
            return null;
        var chunks = LargeValues.ChunkCount(reference.Length);
        var bytes = chunks * sizeof(ulong);
        var extent = TreeLimits.OverflowPages(pages.PageSize, bytes);
        if (TryOpenExtent(reference.ChecksumPage, bytes, extent) is { } fault)
            return fault;
        _sums = new ulong[chunks];
        var target = System.Runtime.InteropServices.MemoryMarshal.AsBytes(_sums.AsSpan());
        if (_frame != null)
            new ReadOnlySpan<byte>(_frame, target.Length).CopyTo(target);
        else
            pages.ReadFile((reference.ChecksumPage << pages.PageShift) + PageHeader.Size, target);
        _frame = null;
        owned.Set(reference.ChecksumPage, extent);
        return null;
    }

    private string? CheckChunks(long offset, int count)
    {
        for (var at = 0; at < count; at += ChunkBytes)
        {
            var chunk = (offset + at) / ChunkBytes;
            var page = LargeValues.ChunkPage(_first, chunk, pages.PageShift);
            var actual = Checksum.Compute(_piece + at, (nuint)Math.Min(ChunkBytes, count - at), pages.Seed(page));
            if (actual == _sums[chunk])
                continue;
            var expected = _sums[chunk];
            var fault = $"Chunk {chunk} of the value at {pages.Describe(_first)} is damaged: its checksum should be {expected:X16}, but is {actual:X16}.";
            pages.NoteDamage(page, fault, $"{expected:X16}", $"{actual:X16}");
            return fault;
        }

        return null;
    }
}
