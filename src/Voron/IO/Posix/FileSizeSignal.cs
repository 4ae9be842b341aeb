using System.Runtime.InteropServices;

namespace Voron.IO.Posix;

/// <summary>
/// Prevents a write beyond the process's file size limit (RLIMIT_FSIZE) from ending the process: the call then fails with an error, which is
/// treated like a full disk.
/// </summary>
/// <remarks>
/// The system sends SIGXFSZ, which ends the process by default. This class sets a handler that does nothing rather than ignoring the signal,
/// because programs that this process starts would inherit the latter.
/// </remarks>
internal static class FileSizeSignal
{
    /// <summary>SIGXFSZ of Linux and macOS.</summary>
    private const PosixSignal FileSizeExceeded = (PosixSignal)25;

    private static readonly PosixSignalRegistration? Registration = Register();

    /// <summary>Installs the handler for the rest of the process's lifetime. It must be called before any write.</summary>
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
