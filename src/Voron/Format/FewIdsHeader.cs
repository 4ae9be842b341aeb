using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The start of a set of few ids, after the key of a leaf record. A block of ids follows, whose capacity may exceed its bytes.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct FewIdsHeader
{
    public const int Size = 12;

    /// <summary>The maximum number of bytes after the key. A larger set has pages of its own.</summary>
    public const int MaxBytes = 256;

    [FieldOffset(0)]
    public ExtendedForm Form;

    [FieldOffset(1)]
    public byte Count;

    [FieldOffset(2)]
    public byte GapWidth;

    [FieldOffset(3)]
    public byte PayloadWidth;

    [FieldOffset(4)]
    public long First;

    public readonly IdBlockShape Shape => new(Count, GapWidth, PayloadWidth);

    /// <summary>
    /// Returns the number of bytes that a set takes after the key: a multiple of 16, so that ids can be added without moving the record.
    /// </summary>
    public static int RecordBytes(in IdBlockShape shape) => IdBlockShape.RoundUp(Size + shape.Size);
}
