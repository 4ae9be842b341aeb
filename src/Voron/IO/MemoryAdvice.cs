using Voron.IO.Posix;

namespace Voron.IO;

/// <summary>Hints to the system about how memory will be used. They change no content, and the system may ignore them.</summary>
internal static unsafe class MemoryAdvice
{
    private static readonly nuint PageLength = (nuint)Environment.SystemPageSize;

    /// <summary>Requests large memory pages for new memory that will be used as a whole: one page fault instead of hundreds. Linux only.</summary>
    public static void PreferLargePages(byte* address, nuint length)
    {
        if (OperatingSystem.IsLinux())
            _ = Libc.Advise(address, length, Platform.AdviseHugePage);
    }

    /// <summary>Asks the system not to read ahead when a page of a map is missing. Not on Windows.</summary>
    /// <param name="address">The start of the map.</param>
    /// <param name="length">Its length in bytes.</param>
    public static void ExpectRandomAccess(byte* address, nuint length)
    {
        if (!OperatingSystem.IsWindows())
            _ = Libc.Advise(address, length, Platform.AdviseRandom);
    }

    /// <summary>Asks the system to read a part of a map in the background. Not on Windows.</summary>
    public static void Fetch(byte* address, nuint length)
    {
        if (OperatingSystem.IsWindows())
            return;
        var inPage = (nuint)address & (PageLength - 1);
        _ = Libc.Advise(address - inPage, length + inPage, Platform.AdviseFetch);
    }
}
