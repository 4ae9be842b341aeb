using Voron.IO.Posix;

namespace Voron.IO;

/// <summary>Hints to the system on how memory will be used. They change no content, and may be ignored.</summary>
internal static unsafe class MemoryAdvice
{
    /// <summary>
    /// Asks for large memory pages behind fresh memory that will be used as a whole: one fault in place of hundreds. Linux only.
    /// </summary>
    public static void PreferLargePages(byte* address, nuint length)
    {
        if (OperatingSystem.IsLinux())
            _ = Libc.Advise(address, length, Platform.AdviseHugePage);
    }
}
