using System.Runtime.InteropServices;

namespace Voron.IO.Posix;

/// <summary>
/// Keeps a write beyond the process's limit for the size of a file (RLIMIT_FSIZE) from ending the process: the call then fails with
/// an error, which is that of a full disk.
/// </summary>
/// <remarks>
/// The system sends SIGXFSZ, whose default is the end. A handler that does nothing is set, and not the disposition to ignore the signal,
/// which programs started by this one would inherit.
/// </remarks>
internal static class FileSizeSignal
{
    /// <summary>SIGXFSZ of Linux and macOS.</summary>
    private const PosixSignal FileSizeExceeded = (PosixSignal)25;

    private static readonly PosixSignalRegistration? Registration = Register();

    /// <summary>To be called before anything is written. Stays for the life of the process.</summary>
    public static void Ignore() => GC.KeepAlive(Registration);

    private static PosixSignalRegistration? Register()
    {
        try
        {
            return PosixSignalRegistration.Create(FileSizeExceeded, static context => context.Cancel = true);
        }
        catch (Exception e) when (e is PlatformNotSupportedException or IOException)
        {
            return null;
        }
    }
}
