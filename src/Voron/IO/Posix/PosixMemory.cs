using System.Runtime.InteropServices;

namespace Voron.IO.Posix;

/// <summary>Ranges of address space. Lengths are multiples of the system's page size.</summary>
internal static unsafe class PosixMemory
{
    private static readonly int Hidden = Platform.MapPrivate | Platform.MapAnonymous | Platform.MapNoReserve;

    /// <summary>Reserves addresses that no memory stands behind; null when there is no room for so many.</summary>
    public static byte* TryReserve(nuint length)
    {
        nint address = Libc.MapAnonymous(null, length, Platform.ProtectNone, Hidden, -1, 0);
        return address == -1 ? null : (byte*)address;
    }

    /// <summary>As the other, but null also when not as much again is left for everything else, unless <paramref name="leaveNothing"/>.</summary>
    public static byte* TryReserve(nuint length, bool leaveNothing)
    {
        if (leaveNothing)
            return TryReserve(length);
        byte* address = TryReserve(length * 2);
        if (address != null)
            Unmap(address + length, length);
        return address;
    }

    /// <summary>Makes a reserved range readable and writable. Memory comes at the first touch, as zeros.</summary>
    public static bool TryCommit(byte* address, nuint length) => Libc.Protect(address, length, Platform.ProtectReadWrite) == 0;

    /// <summary>Puts fresh zeros over a committed range and gives its memory back.</summary>
    public static bool TryReset(byte* address, nuint length) =>
        Libc.MapAnonymous(address, length, Platform.ProtectReadWrite, Hidden | Platform.MapFixed, -1, 0) != -1;

    /// <summary>Takes away whatever is mapped there, but keeps the addresses.</summary>
    public static bool TryHide(byte* address, nuint length) =>
        Libc.MapAnonymous(address, length, Platform.ProtectNone, Hidden | Platform.MapFixed, -1, 0) != -1;

    public static void Release(byte* address, nuint length)
    {
        if (!EngineMemory.TryKeep(address, length))
            Unmap(address, length);
    }

    public static void Unmap(byte* address, nuint length)
    {
        int result = Libc.Unmap(address, length);
        System.Diagnostics.Debug.Assert(result == 0, $"munmap failed with error {Marshal.GetLastPInvokeError()}.");
    }
}
