using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>A leaf's reference to a value in overflow pages.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct OverflowReference
{
    public const int Size = 16;

    [FieldOffset(0)]
    public long FirstPage;

    /// <summary>The length of the value in bytes; also in the header of the extent.</summary>
    [FieldOffset(8)]
    public long Length;
}
