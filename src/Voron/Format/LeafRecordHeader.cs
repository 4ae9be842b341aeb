using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The location of a value's bytes, stored in two bits of a leaf record.</summary>
internal enum ValueKind
{
    /// <summary>After the key, in the leaf.</summary>
    Inline = 0,

    /// <summary>In an extent of overflow pages; the record holds an <see cref="OverflowReference"/>.</summary>
    Overflow = 1,

    /// <summary>In an extent without page headers; the record holds a <see cref="LargeExtentReference"/>.</summary>
    LargeExtent = 2,

    /// <summary>A set of ids or a compressed value: the first byte after the key is an <see cref="ExtendedForm"/>.</summary>
    Extended = 3,
}

/// <summary>The start of a record in a leaf; the key follows, and the value or the reference to it follows the key.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct LeafRecordHeader
{
    public const int Size = 4;

    /// <summary>Bits 0 to 13 of <see cref="KeyLengthAndKind"/>.</summary>
    public const int KeyLengthMask = 0x3FFF;

    /// <summary>The bit in <see cref="KeyLengthAndKind"/> at which the <see cref="ValueKind"/> starts.</summary>
    public const int KindShift = 14;

    [FieldOffset(0)]
    public ushort KeyLengthAndKind;

    /// <summary>The number of bytes after the key: the value itself, or the reference.</summary>
    [FieldOffset(2)]
    public ushort InlineLength;
}
