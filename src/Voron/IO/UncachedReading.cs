using Microsoft.Win32.SafeHandles;
using Voron.IO.Posix;

namespace Voron.IO;

/// <summary>Reads files of the base library past the page cache, where the system can.</summary>
/// <remarks>
/// The cache reads ahead in bursts of megabytes, which delay writes to the same device, and keeps bytes that are read only once. Addresses,
/// offsets and lengths must be multiples of the block size of the device.
/// </remarks>
internal static class UncachedReading
{
    /// <summary>Bypasses the page cache from now on. Returns false if the system cannot: reads continue to use the cache.</summary>
    public static bool TryBegin(SafeFileHandle file) => OperatingSystem.IsLinux() && PosixVolume.TrySetDirect(file, true);

    /// <summary>Uses the page cache again, for reads of any length.</summary>
    public static void End(SafeFileHandle file) => PosixVolume.TrySetDirect(file, false);

    /// <summary>Returns whether a read failed because its file system refuses reads past the cache, or reads of that alignment.</summary>
    public static bool IsRefusal(IOException failure) => failure.HResult == Errno.Invalid;
}
