using System.Runtime.InteropServices;

namespace Voron.IO.Posix;

/// <summary>Ranges of address space. Lengths are multiples of the system's page size.</summary>
internal static unsafe class PosixMemory
{
    private static readonly int Hidden = Platform.MapPrivate | Platform.MapAnonymous | Platform.MapNoReserve;

    /// <summary>Reserves addresses without memory behind them. Returns null when there are not enough addresses.</summary>
    public static byte* TryReserve(nuint length)
    {
        var address = Libc.MapAnonymous(null, length, Platform.ProtectNone, Hidden, -1, 0);
        return address == -1 ? null : (byte*)address;
    }

    /// <summary>
    /// Reserves a range and leaves <paramref name="beside"/> more bytes next to it free. Returns null if the system lacks space for both.
    /// </summary>
    public static byte* TryReserve(nuint length, nuint beside)
    {
        var address = TryReserve(length + beside);
        if (address == null || beside == 0)
            return address;

        // Linux allocates addresses from the top. If the upper ones were given up, the next such reservation would not fit there, and leave a hole.
        Unmap(address, beside);
        return address + beside;
    }

    /// <summary>Makes a reserved range readable and writable. The system provides zeroed memory at the first touch.</summary>
    public static bool TryCommit(byte* address, nuint length) => Libc.Protect(address, length, Platform.ProtectReadWrite) == 0;

    /// <summary>Replaces a committed range with zeros and returns its memory to the system.</summary>
    public static bool TryReset(byte* address, nuint length) =>
        Libc.MapAnonymous(address, length, Platform.ProtectReadWrite, Hidden | Platform.MapFixed, -1, 0) != -1;

    /// <summary>Unmaps the memory in a range, but keeps the addresses reserved.</summary>
    public static bool TryHide(byte* address, nuint length) =>
        Libc.MapAnonymous(address, length, Platform.ProtectNone, Hidden | Platform.MapFixed, -1, 0) != -1;

    public static void Release(byte* address, nuint length)
    {
        if (!EngineMemory.TryKeep(address, length))
            Unmap(address, length);
    }

    public static void Unmap(byte* address, nuint length)
    {
        var result = Libc.Unmap(address, length);
        System.Diagnostics.Debug.Assert(result == 0, $"munmap failed with error {Marshal.GetLastPInvokeError()}.");
    }
}
