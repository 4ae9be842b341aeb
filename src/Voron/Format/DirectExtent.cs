using System.Runtime.InteropServices;

namespace Voron.Format;

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
