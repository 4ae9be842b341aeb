using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The start of a compressed value, after its key. The block follows, or an <see cref="OverflowReference"/> to it.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct PackedValue
{
    public const int Size = 7;

    /// <summary>The codec: blocks of LZ4.</summary>
    public const byte Lz4 = 1;

    /// <summary>The shortest value that is compressed.</summary>
    public const int LeastBytes = 64;

    /// <summary>The longest value that is compressed.</summary>
    public const int MostBytes = 64 << 10;

    /// <summary>The highest number of a dictionary.</summary>
    public const int MostDictionaries = 250;

    [FieldOffset(0)]
    public ExtendedForm Form;

    [FieldOffset(1)]
    public byte Codec;

    /// <summary>The dictionary of the tree; 0 for none.</summary>
    [FieldOffset(2)]
    public byte Dictionary;

    /// <summary>The length is stored in two parts, since it is not aligned.</summary>
    [FieldOffset(3)]
    private ushort _low;

    [FieldOffset(5)]
    private ushort _high;

    /// <summary>The length of the value before it was compressed.</summary>
    public int Length
    {
        readonly get => _low | (_high << 16);
        set => (_low, _high) = ((ushort)value, (ushort)(value >> 16));
    }

    /// <summary>Returns whether the bytes after a key, which begin with this header, are possible. The block is checked later.</summary>
    /// <param name="length">The number of bytes after the key.</param>
    public readonly bool IsSound(int length) =>
        Codec == Lz4 && Dictionary <= MostDictionaries && Length is >= LeastBytes and <= MostBytes && Form switch
        {
            ExtendedForm.Packed => length > Size && length < Size + Length,
            ExtendedForm.PackedOutside => length == Size + OverflowReference.Size,
            _ => false,
        };
}
