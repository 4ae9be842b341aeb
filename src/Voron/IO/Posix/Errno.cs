using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;

namespace Voron.IO.Posix;

/// <summary>The system's error numbers and their meaning to the engine.</summary>
internal static class Errno
{
    public const int NotPermitted = 1;
    public const int NoEntry = 2;
    public const int Interrupted = 4;
    public const int AccessDenied = 13;
    public const int Exists = 17;
    public const int NoDevice = 19;
    public const int Invalid = 22;
    public const int NotATerminal = 25;
    public const int FileTooLarge = 27;
    public const int NoSpace = 28;
    public const int ReadOnlyFileSystem = 30;

    public static readonly int Loop = Platform.IsMac ? 62 : 40;
    public static readonly int WouldBlock = Platform.IsMac ? 35 : 11;
    public static readonly int Quota = Platform.IsMac ? 69 : 122;
    public static readonly int NoSystemCall = Platform.IsMac ? 78 : 38;
    public static readonly int NotSupported = Platform.IsMac ? 45 : 95;
    public static readonly int OperationNotSupported = Platform.IsMac ? 102 : 95;

    public static DiskError ToDiskError(int errno)
    {
        if (errno == Quota)
            return DiskError.NoSpace;
        if (IsUnsupported(errno))
            return DiskError.NotSupported;
        return errno switch
        {
            NoSpace or FileTooLarge => DiskError.NoSpace,
            AccessDenied or NotPermitted or ReadOnlyFileSystem => DiskError.AccessDenied,
            NoEntry => DiskError.NotFound,
            Exists => DiskError.AlreadyExists,
            NoDevice => DiskError.NotSupported,
            _ => DiskError.Failed,
        };
    }

    /// <summary>
    /// Returns whether the kernel or the file system does not know the call. EINVAL is not among these errors: it has other causes too.
    /// </summary>
    public static bool IsUnsupported(int errno) =>
        errno == NoSystemCall || errno == NotSupported || errno == OperationNotSupported;

    public static DiskException ToException(string operation, string path, int errno) =>
        new(ToDiskError(errno), operation, path, Marshal.GetPInvokeErrorMessage(errno), errno);

    [DoesNotReturn]
    public static void Throw(string operation, string path, int errno) => throw ToException(operation, path, errno);

    /// <summary>Throws for the call that has just failed, unless a signal interrupted it: the caller must then repeat it.</summary>
    public static void ThrowUnlessInterrupted(string operation, string path)
    {
        var errno = Marshal.GetLastPInvokeError();
        if (errno != Interrupted)
            Throw(operation, path, errno);
    }
}
