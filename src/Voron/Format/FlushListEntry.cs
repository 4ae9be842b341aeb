using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>An entry of a flush list.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct FlushListEntry
{
    public const int Size = 24;

    [FieldOffset(0)]
    public long Page;

    /// <summary>The checksum in the page's header as of the flush id.</summary>
    [FieldOffset(8)]
    public ulong Checksum;

    /// <summary>1, or the number of pages of an extent.</summary>
    [FieldOffset(16)]
    public uint Pages;

    // 20 to 23: zero.
}
