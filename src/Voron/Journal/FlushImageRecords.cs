using Voron.Format;

namespace Voron.Journal;

/// <summary>
/// Records with full-page images of the pages that a flush overwrites, for devices that may leave any content in blocks that were being
/// written when the power failed. Each record is bounded in size and holds the next few pages.
/// </summary>
internal static class FlushImageRecords
{
    /// <summary>The number of bytes of pages in one record.</summary>
    private const int RecordBytes = 256 << 10;

    public static int PagesPerRecord(int pageSize) => RecordBytes / pageSize;

    /// <summary>Returns the maximum number of journal bytes for the images of that many pages, when nothing can be compressed.</summary>
    public static long MaxBytes(long pages, int pageSize)
    {
        var (full, rest) = Math.DivRem(pages, PagesPerRecord(pageSize));
        return full * MaxRecordBytes(PagesPerRecord(pageSize), pageSize) + (rest == 0 ? 0 : MaxRecordBytes(rest, pageSize));
    }

    private static long MaxRecordBytes(long pages, int pageSize) =>
        JournalFormat.AlignUp(RecordHeader.Size + pages * (PageEntry.Size + PageDiff.MaxLength(pageSize)));
}
