using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Compression;
using Voron.Format;

namespace Voron.Journal;

/// <summary>Fills a record buffer with the pages of a transaction or of a flush list.</summary>
internal ref struct RecordBuilder
{
    private readonly RecordBuffer _buffer;
    private readonly uint _version;
    private nuint _length;
    private uint _count;

    /// <param name="buffer">The buffer to fill.</param>
    /// <param name="kind">The content of the record.</param>
    /// <param name="version">The version of the format in which the record is written.</param>
    public unsafe RecordBuilder(RecordBuffer buffer, RecordKind kind, uint version)
    {
        _buffer = buffer;
        _version = version;
        buffer.Begin(kind, version);
        _length = (nuint)buffer.Header->HeaderSize;
    }

    /// <summary>The size of the record so far in bytes, header included.</summary>
    public readonly long Length => (long)_length;

    /// <summary>Adds a page as its difference from the previous version or, without one, from zeros.</summary>
    public unsafe void AddPage(long page, byte* bytes, byte* previous, int pageSize, ulong dirtyLines)
    {
        var maxLength = PageDiff.MaxLength(pageSize);
        _buffer.EnsureCapacity(_length + (nuint)(PageEntry.Size + maxLength), _length);
        var isCompact = CompactPageEntry.Fits(page, maxLength);
        var entry = _buffer.Buffer + _length;
        var content = entry + (isCompact ? CompactPageEntry.Size : PageEntry.Size);
        var end = PageDiff.Write(content, bytes, previous, pageSize, dirtyLines);
        if (previous != null && end == content)
            return;

        var kind = previous != null ? PageEntryKind.Diff : PageEntryKind.Zeros;
        if (isCompact)
            Unsafe.WriteUnaligned(entry, new CompactPageEntry(page, kind, (int)(end - content)));
        else
            *(PageEntry*)entry = new PageEntry { PageAndKind = PageEntry.Pack(page, kind), Pages = 1, Length = (uint)(end - content) };
        _length = (nuint)(end - _buffer.Buffer);
        _count++;
    }

    /// <summary>Adds an extent in full.</summary>
    public unsafe void AddExtent(long firstPage, byte* bytes, int pages, int pageSize)
    {
        var length = checked(pages * pageSize);
        _buffer.EnsureCapacity(_length + (nuint)(PageEntry.Size + PageDiff.MaxSparseLength(length)), _length);
        var entry = (PageEntry*)(_buffer.Buffer + _length);
        var content = (byte*)(entry + 1);
        var end = PageDiff.WriteSparse(content, bytes, length);
        entry->PageAndKind = PageEntry.Pack(firstPage, PageEntryKind.Extent);
        entry->Pages = (uint)pages;
        entry->Length = (uint)(end - content);
        Close(entry);
    }

    /// <summary>Adds pages that become free.</summary>
    public unsafe void AddFree(long firstPage, uint pages)
    {
        _buffer.EnsureCapacity(_length + PageEntry.Size, _length);
        var entry = (PageEntry*)(_buffer.Buffer + _length);
        entry->PageAndKind = PageEntry.Pack(firstPage, PageEntryKind.Free);
        entry->Pages = pages;
        entry->Length = 0;
        Close(entry);
    }

    /// <summary>Adds an extent whose content is already in the data file.</summary>
    public unsafe void AddDirect(long firstPage, uint pages, in DirectExtent value)
    {
        _buffer.EnsureCapacity(_length + PageEntry.Size + DirectExtent.Size, _length);
        var entry = (PageEntry*)(_buffer.Buffer + _length);
        entry->PageAndKind = PageEntry.Pack(firstPage, PageEntryKind.Direct);
        entry->Pages = pages;
        entry->Length = DirectExtent.Size;
        *(DirectExtent*)(entry + 1) = value;
        Close(entry);
    }

    /// <summary>Adds adjacent pages of trees that are already in the data file. The caller stores their checksums.</summary>
    /// <returns>Where the checksums belong; valid until the next call.</returns>
    public unsafe Span<ulong> AddDirectPages(long firstPage, int pages)
    {
        var length = DirectPages.Length(pages);
        _buffer.EnsureCapacity(_length + (nuint)(PageEntry.Size + length), _length);
        var entry = (PageEntry*)(_buffer.Buffer + _length);
        entry->PageAndKind = PageEntry.Pack(firstPage, PageEntryKind.Direct);
        entry->Pages = (uint)pages;
        entry->Length = (uint)length;
        var content = (byte*)(entry + 1);
        ((DirectPages*)content)->Mark = DirectPages.MarkValue;
        Close(entry);
        return new Span<ulong>(DirectPages.Checksums(content), pages);
    }

    /// <summary>Adds a page to a flush list.</summary>
    public unsafe void AddListed(long page, ulong checksum, uint pages)
    {
        _buffer.EnsureCapacity(_length + FlushListEntry.Size, _length);
        *(FlushListEntry*)(_buffer.Buffer + _length) = new FlushListEntry { Page = page, Checksum = checksum, Pages = pages };
        _length += FlushListEntry.Size;
        _count++;
    }

    /// <summary>Completes the record, and compresses it if that is requested and pays.</summary>
    /// <param name="compressed">The buffer for the compressed form, which then holds the record. If null, the record is not
    /// compressed.</param>
    /// <returns>The buffer that holds the record: the one given to the constructor, or <paramref name="compressed"/>.</returns>
    public readonly unsafe RecordBuffer Finish(in EnvironmentState state, RecordBuffer? compressed)
    {
        var headerSize = _buffer.Header->HeaderSize;
        var payload = (long)_length - headerSize;
        _buffer.Header->State = state;
        _buffer.Header->EntryCount = _count;

        // A record that does not fit into memory is not compressed, because that would take as much space again.
        if (compressed != null && payload > JournalFormat.Block && payload <= int.MaxValue / 2 && !_buffer.IsSpilled)
        {
            var bound = Lz4Block.MaxCompressedLength((int)payload);
            compressed.EnsureCapacity((nuint)(headerSize + bound), 0);
            compressed.Begin(_buffer.Header->Kind, _version);
            var stored = Lz4Block.Compress(_buffer.Payload, (int)payload, compressed.Payload, bound);

            // Records are written in whole blocks, so a saving within the last block is no saving.
            if (stored > 0 && JournalFormat.AlignUp(headerSize + stored) < JournalFormat.AlignUp((long)_length))
            {
                Buffer.MemoryCopy(_buffer.Header, compressed.Header, headerSize, headerSize);
                compressed.Finish(stored, payload, RecordFlags.Compressed);
                return compressed;
            }
        }

        _buffer.Finish(payload, payload, RecordFlags.None);
        return _buffer;
    }

    private unsafe void Close(PageEntry* entry)
    {
        Debug.Assert((byte*)entry == _buffer.Buffer + _length);
        _length += PageEntry.Size + entry->Length;
        _count++;
    }
}
