namespace Voron.IO.Windows;

/// <summary>Ranges of address space. Lengths are multiples of the system's page size.</summary>
internal static unsafe class WindowsMemory
{
    private const uint Commit = 0x1000;
    private const uint ReserveOnly = 0x2000;
    private const uint Decommit = 0x4000;
    private const uint ReleaseAll = 0x8000;
    private const uint NoAccess = 0x01;
    private const uint ReadWrite = 0x04;

    public static byte* TryReserve(nuint length) => (byte*)Kernel32.VirtualAlloc(null, length, ReserveOnly, NoAccess);

    /// <summary>
    /// Reserves a range and leaves <paramref name="beside"/> more bytes next to it free. Returns null if the system lacks space for both.
    /// </summary>
    public static byte* TryReserve(nuint length, nuint beside)
    {
        var address = TryReserve(length + beside);
        if (address == null || beside == 0)
            return address;

        // No part of a reservation can be released.
        ReleaseNow(address);
        return TryReserve(length);
    }

    /// <summary>Reserves the given addresses. Returns false when some of them are taken.</summary>
    public static bool TryReserve(byte* address, nuint length) => Kernel32.VirtualAlloc(address, length, ReserveOnly, NoAccess) != null;

    public static bool TryCommit(byte* address, nuint length) => Kernel32.VirtualAlloc(address, length, Commit, ReadWrite) != null;

    /// <summary>Replaces a committed range with zeros: memory reads as zeros when it is committed again.</summary>
    public static bool TryReset(byte* address, nuint length) =>
        TryHide(address, length) && TryCommit(address, length);

    /// <summary>Returns the memory of a range to the system, but keeps the addresses reserved: no thread can touch them.</summary>
    public static bool TryHide(byte* address, nuint length) => Kernel32.VirtualFree(address, length, Decommit);

    public static void Release(byte* address, nuint length)
    {
        if (!EngineMemory.TryKeep(address, length))
            ReleaseNow(address);
    }

    private static void ReleaseNow(byte* address)
    {
        var released = Kernel32.VirtualFree(address, 0, ReleaseAll);
        System.Diagnostics.Debug.Assert(released, "VirtualFree failed.");
    }
}
