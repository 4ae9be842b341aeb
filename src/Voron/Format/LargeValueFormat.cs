using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>What a leaf holds in place of a value that was written straight to the data file.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct LargeReference
{
    public const int Size = 24;

    /// <summary>Bytes of the value that share a checksum.</summary>
    public const int ChunkBytes = 64 << 10;

    /// <summary>First page of the run; it has no header, the value starts at its first byte.</summary>
    [FieldOffset(0)]
    public long FirstPage;

    /// <summary>Length of the value in bytes.</summary>
    [FieldOffset(8)]
    public long Length;

    /// <summary>First page of the overflow run that holds the checksums of the chunks, eight bytes each.</summary>
    [FieldOffset(16)]
    public long DescriptorPage;

    public static long ChunkCount(long length) => (length + ChunkBytes - 1) / ChunkBytes;
}
