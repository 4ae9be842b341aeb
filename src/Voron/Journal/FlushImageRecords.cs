using Voron.Format;

namespace Voron.Journal;

/// <summary>
/// Records with whole images of pages that a flush overwrites, for devices that may leave anything in what was being written
/// when the power failed: bounded in size, each with the next few pages.
/// </summary>
internal static class FlushImageRecords
{
    /// <summary>Bytes of pages in one record.</summary>
    private const int RecordBytes = 256 << 10;

    public static int PagesPerRecord(int pageSize) => RecordBytes / pageSize;

    /// <summary>Bytes of journal that the images of so many pages take at most, when nothing can be compressed.</summary>
    public static long MaxBytes(long pages, int pageSize)
    {
        var (full, rest) = Math.DivRem(pages, PagesPerRecord(pageSize));
        return full * MaxRecordBytes(PagesPerRecord(pageSize), pageSize) + (rest == 0 ? 0 : MaxRecordBytes(rest, pageSize));
    }

    private static long MaxRecordBytes(long pages, int pageSize) =>
        JournalFormat.AlignUp(RecordHeader.Size + pages * (PageEntry.Size + PageDiff.MaxLength(pageSize)));
}

/// <summary>Reads the images of a record one by one. Whatever the bytes, nothing outside of payload and target is touched.</summary>
internal unsafe ref struct FlushImageReader
{
    private readonly ReadOnlySpan<byte> _payload;
    private readonly long _pageCount;
    private readonly int _pageSize;
    private int _at;

    /// <param name="payload">The payload of the record, uncompressed.</param>
    /// <param name="pageCount">How many pages there were as of the flush: images have lower numbers.</param>
    /// <param name="pageSize">Bytes of a page.</param>
    public FlushImageReader(ReadOnlySpan<byte> payload, long pageCount, int pageSize)
    {
        _payload = payload;
        _pageCount = pageCount;
        _pageSize = pageSize;
    }

    /// <summary>True when all bytes have been read.</summary>
    public readonly bool IsAtEnd => _at == _payload.Length;

    /// <summary>Makes the next page. False when what stands there is no image of a page.</summary>
    /// <param name="target">Room for a page; what it holds is overwritten, also when the result is false.</param>
    /// <param name="page">The page's number.</param>
    public bool TryRead(byte* target, out long page)
    {
        page = -1;
        PageEntry entry;
        int size;
        fixed (byte* payload = _payload)
        {
            if (!PageEntry.TryRead(payload + _at, _payload.Length - _at, out entry, out size))
                return false;
        }

        if (entry.Kind != PageEntryKind.Zeros || entry.Pages != 1 || entry.Page >= _pageCount)
            return false;

        var content = _payload.Slice(_at + size, (int)entry.Length);

        new Span<byte>(target, _pageSize).Clear();
        if (!PageDiff.TryApply(content, target, _pageSize))
            return false;
        _at += size + content.Length;
        page = entry.Page;
        return true;
    }
}
