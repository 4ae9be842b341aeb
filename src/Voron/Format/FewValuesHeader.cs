using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>
/// The start of a set of few values. The offset of each value follows in two bytes, in the order of the values. The values fill the record from
/// its end downwards, in any order, each preceded by its length in two bytes.
/// </summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct FewValuesHeader
{
    public const int Size = 8;

    /// <summary>The number of bytes that a value takes in addition to its own: its offset and its length.</summary>
    public const int BytesOfValue = 2 * sizeof(ushort);

    [FieldOffset(0)]
    public ValueSetForm Form;

    // 1: zero.

    [FieldOffset(2)]
    public ushort Count;

    /// <summary>The offset of the lowest value; the length of the record if there is none.</summary>
    [FieldOffset(4)]
    public ushort HeapStart;

    /// <summary>The bytes from <see cref="HeapStart"/> on that belong to no value.</summary>
    [FieldOffset(6)]
    public ushort HoleBytes;
}
