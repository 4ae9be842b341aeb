using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>
/// The content of an entry of the kind <see cref="PageEntryKind.Direct"/> for pages of trees: this mark, followed by the checksum of each page, as in
/// the page's header. An entry for a value has a <see cref="DirectExtent"/> instead, which never begins with the mark.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal unsafe struct DirectPages
{
    public const int Size = 8;

    /// <summary>The value of <see cref="Mark"/>. In the entry for a value, a length is stored there.</summary>
    public const long MarkValue = -1;

    [FieldOffset(0)]
    public long Mark;

    /// <summary>Returns true if the content of an entry of the kind <see cref="PageEntryKind.Direct"/> is of this form.</summary>
    public static bool Is(byte* content, long length) => length >= Size && ((DirectPages*)content)->Mark == MarkValue;

    /// <summary>The length in bytes of the content for that many pages.</summary>
    public static long Length(long pages) => Size + pages * sizeof(ulong);

    public static ulong* Checksums(byte* content) => (ulong*)(content + Size);
}

/// <summary>The location of the checksums of a directly written extent.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct DirectExtent
{
    public const int Size = 16;

    /// <summary>Length of the value in bytes.</summary>
    [FieldOffset(0)]
    public long Length;

    /// <summary>As <see cref="LargeExtentReference.Checksums"/>.</summary>
    [FieldOffset(8)]
    public ulong Checksums;
}
