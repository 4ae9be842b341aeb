using Microsoft.Win32.SafeHandles;
using Voron.IO.Posix;

namespace Voron.IO;

/// <summary>Reads of a file of the base library past the page cache, where the system can.</summary>
/// <remarks>
/// The cache reads ahead in bursts of megabytes, behind which writes to the same device wait, and keeps what is read once. Addresses, offsets and
/// lengths must be multiples of the block size of the device.
/// </remarks>
internal static class UncachedReading
{
    /// <summary>Goes past the page cache from now on. Returns false if the system cannot: reads go through the cache, as before.</summary>
    public static bool TryBegin(SafeFileHandle file) => OperatingSystem.IsLinux() && PosixVolume.TrySetDirect(file, true);

    /// <summary>Goes through the page cache again, for reads of any length.</summary>
    public static void End(SafeFileHandle file) => PosixVolume.TrySetDirect(file, false);

    /// <summary>Returns whether a read failed since its file system refuses reads past the cache, or reads of that alignment.</summary>
    public static bool IsRefusal(IOException failure) => failure.HResult == Errno.Invalid;
}
