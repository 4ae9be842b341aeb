using System.Runtime.InteropServices;

namespace Voron.Format;

/// <summary>The start of a record in a branch; the separator follows. Record 0 of a branch has an empty separator.</summary>
[StructLayout(LayoutKind.Explicit, Size = Size, Pack = 1)]
internal struct BranchRecordHeader
{
    public const int Size = 10;

    [FieldOffset(0)]
    public ushort KeyLength;

    /// <summary>The page that holds the keys from this separator up to, but not including, the next one.</summary>
    [FieldOffset(2)]
    public long Child;
}
