using System.Numerics;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.IO;
using Voron.Journal;
using Voron.Paging;

namespace Voron.Recovery;

/// <summary>
/// Checks whether the data file contains the extents that a record names, for a record written before they were known to be durable.
/// </summary>
/// <remarks>
/// No page of these extents has been overwritten since: a page that a transaction frees is written directly only after a flush, and no page of a
/// state is flushed before the state is published, after which each later record says that this one was durable. A chunk without a matching
/// checksum was therefore lost in a power failure, or has decayed since; the two cannot be told apart.
/// </remarks>
/// <param name="dataFile">The data file.</param>
/// <param name="memory">The memory for uncompressed records.</param>
internal sealed unsafe class UnsyncedExtents(DataFile dataFile, BlockMemory memory)
{
    private readonly int _pageShift = BitOperations.Log2((uint)dataFile.PageSize);

    // The checksums of values of several chunks, as stored in the record, by page.
    private readonly Dictionary<long, (nint Content, PageEntry Entry)> _descriptors = [];

    /// <summary>Returns true if all extents of the record match their checksums.</summary>
    /// <exception cref="CorruptionException">The record is malformed.</exception>
    /// <exception cref="StorageAccessException">The data file cannot be read.</exception>
    public bool AreWhole(RecordHeader* record, string path)
    {
        using var payload = new RecordPayload(record, path, memory);
        _descriptors.Clear();
        for (var entries = new PageEntries(payload, record->EntryCount); entries.MoveNext();)
        {
            if (entries.Current.Kind == PageEntryKind.Extent)
                _descriptors[entries.Current.Page] = ((nint)entries.Content, entries.Current);
        }

        using var buffer = memory.Allocate(LargeValues.ChunkBytes, DiskRules.Alignment);
        for (var entries = new PageEntries(payload, record->EntryCount); entries.MoveNext();)
        {
            var entry = entries.Current;
            if (entry.Kind != PageEntryKind.Direct || entry.Page + entry.Pages > dataFile.CapacityPages)
                continue;
            if (DirectPages.Is(entries.Content, entry.Length))
            {
                if (!ArePagesWhole(entry, entries.Content, buffer.Address, payload))
                    return false;
                continue;
            }

            if (entry.Length != DirectExtent.Size)
                throw payload.Malformed($"page entry {entries.Index} (page {entry.Page}) of {entry.Length} bytes for a value");
            var value = *(DirectExtent*)entries.Content;
            if (value.Length < 0 || value.Length > (long)entry.Pages << _pageShift)
                throw payload.Malformed($"a value of {value.Length} bytes at page {entry.Page}, which has {entry.Pages} pages");
            if (!IsWhole(entry.Page, value, buffer.Address, payload))
                return false;
        }

        return true;
    }

    private bool ArePagesWhole(in PageEntry entry, byte* content, byte* buffer, in RecordPayload payload)
    {
        if (entry.Length != DirectPages.Length(entry.Pages))
            throw payload.Malformed($"checksums of {entry.Length} bytes for {entry.Pages} pages at page {entry.Page}");
        for (var i = 0; i < entry.Pages; i++)
        {
            Read(entry.Page + i, buffer, dataFile.PageSize);
            var expected = DirectPages.Checksums(content)[i];
            if (((PageHeader*)buffer)->Checksum != expected || dataFile.ComputeChecksum(entry.Page + i, buffer, dataFile.PageSize) != expected)
                return false;
        }

        return true;
    }

    private bool IsWhole(long firstPage, in DirectExtent value, byte* buffer, in RecordPayload payload)
    {
        if (value.Length <= LargeValues.ChunkBytes)
            return value.Length == 0 || IsWhole(firstPage, (int)value.Length, value.Checksums, buffer);
        var chunks = LargeValues.ChunkCount(value.Length);
        using var descriptor = Descriptor((long)value.Checksums, chunks, payload);
        var checksums = (ulong*)(descriptor.Address + PageHeader.Size);
        for (var chunk = 0L; chunk < chunks; chunk++)
        {
            var length = (int)Math.Min(LargeValues.ChunkBytes, value.Length - chunk * LargeValues.ChunkBytes);
            if (!IsWhole(LargeValues.ChunkPage(firstPage, chunk, _pageShift), length, checksums[chunk], buffer))
                return false;
        }

        return true;
    }

    private bool IsWhole(long page, int length, ulong checksum, byte* buffer)
    {
        Read(page, buffer, length);
        if (Checksum.Compute(buffer, (nuint)length, dataFile.Seed(page)) != checksum)
            return false;
        dataFile.MarkChunk(page, isVerified: true);
        return true;
    }

    private void Read(long page, byte* buffer, int length)
    {
        try
        {
            dataFile.File.Read(page << _pageShift, new Span<byte>(buffer, length));
        }
        catch (DiskException e)
        {
            throw new StorageAccessException($"Page {page} of '{dataFile.File.Path}' cannot be read: {e.Message}", e);
        }
    }

    // The transaction that wrote a value also wrote its checksums.
    private MemoryBlock Descriptor(long page, long chunks, in RecordPayload payload)
    {
        if (!_descriptors.TryGetValue(page, out var found))
            throw payload.Malformed($"a value whose checksums are at page {page}, which it does not contain");
        var length = (long)found.Entry.Pages << _pageShift;
        if (length > int.MaxValue || PageHeader.Size + chunks * sizeof(ulong) > length)
            throw payload.Malformed($"checksums of {chunks} chunks at page {page}, which has {found.Entry.Pages} pages");
        var block = memory.Allocate((nuint)length, 0);
        NativeMemory.Clear(block.Address, (nuint)length);
        if (PageDiff.TryApplySparse(new ReadOnlySpan<byte>((byte*)found.Content, (int)found.Entry.Length), block.Address, (int)length))
            return block;
        block.Dispose();
        throw payload.Malformed($"checksums at page {page} that cannot be applied");
    }
}
