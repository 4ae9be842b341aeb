using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The final end of an earlier journal file: bytes after it are never read again.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size)]
internal struct JournalSeal
{
    public const int Size = 48;

    [FieldOffset(0)]
    public RandomId Incarnation;

    [FieldOffset(16)]
    public long Epoch;

    /// <summary>The sequence of the last record to be read in the file; lower than those of all its records if there is none to read.</summary>
    [FieldOffset(24)]
    public long LastSequence;

    [FieldOffset(32)]
    public long EndOffset;

    // 40 to 47: zero.
}
