using Voron.IO.Posix;

namespace Voron.IO;

/// <summary>Hints to the system about how memory will be used. They change no content, and the system may ignore them.</summary>
internal static unsafe class MemoryAdvice
{
    /// <summary>
    /// Requests large memory pages for fresh memory that will be used as a whole: one page fault instead of hundreds. Linux only.
    /// </summary>
    public static void PreferLargePages(byte* address, nuint length)
    {
        if (OperatingSystem.IsLinux())
            _ = Libc.Advise(address, length, Platform.AdviseHugePage);
    }
}
