using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>A position in the journal: directly after a record.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct JournalPosition
{
    public const int Size = 48;

    [FieldOffset(0)]
    public RandomId Incarnation;

    /// <summary>The epoch of the file; 0 before any journal has been written.</summary>
    [FieldOffset(16)]
    public long Epoch;

    /// <summary>The offset in bytes at which the next record may start.</summary>
    [FieldOffset(24)]
    public long Offset;

    /// <summary>The sequence of the record that ends here; 0 if there was none yet.</summary>
    [FieldOffset(32)]
    public long Sequence;

    /// <summary>The checksum of that record.</summary>
    [FieldOffset(40)]
    public ulong Checksum;
}
