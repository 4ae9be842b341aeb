using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The change that a transaction made to a page.</summary>
internal enum PageEntryKind : byte
{
    /// <summary>Byte runs that overwrite the page's previous version.</summary>
    Diff = 1,

    /// <summary>Byte runs over a zeroed page.</summary>
    Zeros = 2,

    /// <summary>An extent of <see cref="PageEntry.Pages"/> complete pages, over zeroed memory.</summary>
    Extent = 3,

    /// <summary><see cref="PageEntry.Pages"/> pages that become free. No bytes follow.</summary>
    Free = 4,

    /// <summary>
    /// Pages whose content was handed to the data file before this record was written. A <see cref="DirectExtent"/> follows for the pages of a value,
    /// and <see cref="DirectPages"/> for pages of trees; for pages that were durable before, as those of a bulk load, a value of length 0.
    /// </summary>
    Direct = 5,
}

/// <summary>
/// The start of a page's entry in a transaction record. An entry for one page with less than 64 KiB of bytes is written as a
/// <see cref="CompactPageEntry"/>, which has the same meaning.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal unsafe struct PageEntry
{
    public const int Size = 16;

    /// <summary>Kind in the lowest eight bits, page number above.</summary>
    [FieldOffset(0)]
    public ulong PageAndKind;

    [FieldOffset(8)]
    public uint Pages;

    /// <summary>The number of bytes that follow.</summary>
    [FieldOffset(12)]
    public uint Length;

    public readonly PageEntryKind Kind => (PageEntryKind)(PageAndKind & 0xFF);

    public readonly long Page => (long)(PageAndKind >> 8);

    public static ulong Pack(long page, PageEntryKind kind) => ((ulong)page << 8) | (byte)kind;

    /// <summary>Reads an entry of either form. Returns false if the entry or its content extends beyond the available bytes.</summary>
    /// <param name="at">The first byte of the entry.</param>
    /// <param name="available">The number of bytes that may be read.</param>
    /// <param name="entry">The entry.</param>
    /// <param name="size">The size of the entry in bytes; its content follows.</param>
    public static bool TryRead(byte* at, long available, out PageEntry entry, out int size)
    {
        entry = default;
        size = available > 0 && (*at & CompactPageEntry.Mark) != 0 ? CompactPageEntry.Size : Size;
        if (available < size)
            return false;
        entry = size == Size ? Unsafe.ReadUnaligned<PageEntry>(at) : Unsafe.ReadUnaligned<CompactPageEntry>(at).ToEntry();
        return entry.Length <= available - size;
    }
}

/// <summary>The short form of <see cref="PageEntry"/>: most changes of a transaction are single pages with few new bytes.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct CompactPageEntry
{
    public const int Size = 8;

    /// <summary>Set in the first byte of this form, and never in that of the long form.</summary>
    public const byte Mark = 0x80;

    private const int LengthShift = 48;
    private const int PageBits = LengthShift - 8;

    /// <summary>Kind and <see cref="Mark"/> in the lowest eight bits, page number in the next forty, length in the highest sixteen.</summary>
    [FieldOffset(0)]
    public ulong Packed;

    public CompactPageEntry(long page, PageEntryKind kind, int length) =>
        Packed = ((ulong)length << LengthShift) | PageEntry.Pack(page, kind) | Mark;

    /// <summary>Returns true if an entry for this single page with at most that many bytes fits into this form.</summary>
    public static bool Fits(long page, int maxLength) => page >> PageBits == 0 && maxLength <= ushort.MaxValue;

    public readonly PageEntry ToEntry() => new()
    {
        PageAndKind = Packed << (64 - LengthShift) >> (64 - LengthShift) & ~(ulong)Mark,
        Pages = 1,
        Length = (uint)(Packed >> LengthShift),
    };
}
