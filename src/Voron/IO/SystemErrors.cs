using Voron.IO.Posix;

namespace Voron.IO;

/// <summary>Converts the base library's exceptions into this layer's exception, for the calls that go through the base library.</summary>
internal static class SystemErrors
{
    private const int HandleDiskFull = unchecked((int)0x80070027);
    private const int DiskFull = unchecked((int)0x80070070);
    private const int SharingViolation = unchecked((int)0x80070020);
    private const int LockViolation = unchecked((int)0x80070021);
    private const int FileExists = unchecked((int)0x80070050);
    private const int AlreadyExists = unchecked((int)0x800700B7);

    public static DiskException From(Exception exception, string operation, string path)
    {
        if (exception is DiskException already)
            return already;

        var error = exception switch
        {
            UnauthorizedAccessException => DiskError.AccessDenied,
            FileNotFoundException or DirectoryNotFoundException => DiskError.NotFound,
            EndOfStreamException => DiskError.EndOfFile,
            NotSupportedException => DiskError.NotSupported,
            _ => exception.HResult switch
            {
                HandleDiskFull or DiskFull => DiskError.NoSpace,
                SharingViolation or LockViolation => DiskError.Locked,
                FileExists or AlreadyExists => DiskError.AlreadyExists,
                > 0 when !OperatingSystem.IsWindows() => Errno.ToDiskError(exception.HResult),
                _ => DiskError.Failed,
            },
        };
        return new DiskException(error, operation, path, exception.Message.TrimEnd('.'), NativeError(exception));
    }

    // On POSIX systems, an exception of a specific type carries the HRESULT of that type, which contains a Windows error number.
    private static int NativeError(Exception exception) => OperatingSystem.IsWindows()
        ? exception.HResult
        : exception switch
        {
            UnauthorizedAccessException => exception.InnerException is IOException { HResult: > 0 and var errno } ? errno : Errno.AccessDenied,
            FileNotFoundException or DirectoryNotFoundException => Errno.NoEntry,
            _ => exception.HResult,
        };

    /// <summary>Returns the exception for a failed Windows call.</summary>
    public static DiskException FromWindows(int error, string operation, string path)
    {
        const int fileNotFound = 2;
        const int pathNotFound = 3;
        const int accessDenied = 5;
        const int notSupported = 50;
        var message = new System.ComponentModel.Win32Exception(error).Message;
        Exception exception = error switch
        {
            fileNotFound or pathNotFound => new FileNotFoundException(message),
            accessDenied => new UnauthorizedAccessException(message),
            notSupported => new NotSupportedException(message),
            _ => new IOException(message, unchecked((int)0x80070000) | error),
        };
        return From(exception, operation, path);
    }
}
