using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>An entry in the directory of an id page: the location and the properties of a block.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct IdBlockEntry
{
    public const int Size = 16;

    /// <summary>The block is the tail of the set: see <see cref="IdBlockShape"/>.</summary>
    public const byte TailFlag = 1;

    /// <summary>The lowest id of the block.</summary>
    [FieldOffset(0)]
    public long First;

    /// <summary>The offset of the block in the page, a multiple of 16; 0 for a block without bytes.</summary>
    [FieldOffset(8)]
    public ushort Place;

    /// <summary>The number of bytes that the block may take, divided by 16.</summary>
    [FieldOffset(10)]
    public byte CapacityUnits;

    /// <summary>The number of ids, minus one.</summary>
    [FieldOffset(11)]
    public byte LastIndex;

    [FieldOffset(12)]
    public byte GapWidth;

    [FieldOffset(13)]
    public byte PayloadWidth;

    /// <summary>The highest payload of the block. A search for the best ids could use it to skip blocks, but no query reads it yet.</summary>
    [FieldOffset(14)]
    public byte HighestPayload;

    [FieldOffset(15)]
    public byte Flags;

    public readonly int Count => LastIndex + 1;

    public readonly int Capacity => CapacityUnits * IdBlockShape.CapacityUnit;

    public readonly bool IsTail => (Flags & TailFlag) != 0;

    public readonly IdBlockShape Shape => new(Count, GapWidth, PayloadWidth, IsTail);
}
