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
                _ => DiskError.Failed,
            },
        };
        return new DiskException(error, operation, path, exception.Message.TrimEnd('.'), exception.HResult);
    }

    /// <summary>Returns the exception for a failed Windows call.</summary>
    public static DiskException FromWindows(int error, string operation, string path)
    {
        const int fileNotFound = 2;
        const int pathNotFound = 3;
        const int accessDenied = 5;
        const int notSupported = 50;
        string message = new System.ComponentModel.Win32Exception(error).Message;
        Exception exception = error switch
        {
            fileNotFound or pathNotFound => new FileNotFoundException(message),
            accessDenied => new UnauthorizedAccessException(message),
            notSupported => new NotSupportedException(message),
            _ => new IOException(message, unchecked((int)0x80070000) | error),
        };
        return From(exception, operation, path);
    }

    /// <summary>
    /// Returns the size in bytes of the volume that a directory is on; <see cref="long.MaxValue"/> where the system does not report it.
    /// </summary>
    public static long VolumeBytes(string directory)
    {
        try
        {
            long bytes = new DriveInfo(directory).TotalSize;
            return bytes > 0 ? bytes : long.MaxValue;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return long.MaxValue;
        }
    }

    /// <summary>
    /// Returns the free bytes of the file system that a directory is on; <see cref="long.MaxValue"/> where the system does not report them.
    /// </summary>
    public static long AvailableBytes(string directory)
    {
        try
        {
            return new DriveInfo(directory).AvailableFreeSpace;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return long.MaxValue;
        }
    }

    /// <summary>Returns the files of a directory, without those that vanish while it is being listed.</summary>
    public static List<DiskEntry> List(string directory)
    {
        var entries = new List<DiskEntry>();
        try
        {
            foreach (var file in new DirectoryInfo(directory).EnumerateFiles())
            {
                try
                {
                    entries.Add(new DiskEntry(file.Name, file.Length));
                }
                catch (FileNotFoundException)
                {
                    // The file has been deleted since: it does not exist, so it is not listed.
                }
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw From(e, "list", directory);
        }
        return entries;
    }
}
