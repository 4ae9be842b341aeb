using System.Runtime.InteropServices;

namespace Voron.IO.Windows;

/// <summary>The OVERLAPPED structure, which holds the start of a locked range.</summary>
[StructLayout(LayoutKind.Explicit, Size = 32)]
internal struct WindowsLockRange
{
    [FieldOffset(16)]
    public uint OffsetLow;

    [FieldOffset(20)]
    public uint OffsetHigh;
}
