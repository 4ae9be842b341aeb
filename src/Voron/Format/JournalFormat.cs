namespace Voron.Format;

/// <summary>Constants of journal files. Everything in these files starts and ends at a multiple of <see cref="Block"/>.</summary>
internal static class JournalFormat
{
    /// <summary>The unit of writing in bytes: the alignment that unbuffered I/O requires, and at least a sector.</summary>
    public const int Block = 4096;

    /// <summary>The offset of the first record: after the two copies of the file's header.</summary>
    public const int FirstRecordOffset = 2 * Block;

    /// <summary>"VoronJnl", read as a little-endian number.</summary>
    public const ulong FileMagic = 0x6C6E4A6E6F726F56;

    /// <summary>"VoronRec", read as a little-endian number.</summary>
    public const ulong RecordMarker = 0x6365526E6F726F56;

    /// <summary>The version of journals, journal snapshots and the header file, which change together.</summary>
    public const uint Version = 1;

    public static long AlignUp(long length) => (length + Block - 1) & ~(long)(Block - 1);
}
