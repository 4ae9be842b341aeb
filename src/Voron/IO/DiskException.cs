namespace Voron.IO;

/// <summary>Why a disk operation failed.</summary>
internal enum DiskError
{
    /// <summary>The device or the file system reported a failure (EIO and everything that has no name of its own here).</summary>
    Failed,

    /// <summary>No space, a quota is used up, or a file would become longer than the file system or a limit of the process allows.</summary>
    NoSpace,

    /// <summary>Access denied, or a read-only file system.</summary>
    AccessDenied,

    /// <summary>The file or directory does not exist.</summary>
    NotFound,

    /// <summary>The file exists already.</summary>
    AlreadyExists,

    /// <summary>Somebody else holds the lock.</summary>
    Locked,

    /// <summary>The file ends before the bytes that were asked for.</summary>
    EndOfFile,

    /// <summary>The file system cannot do this (unbuffered I/O, hole punching, mapping).</summary>
    NotSupported,
}

/// <summary>The one exception that leaves <see cref="IDisk"/> and <see cref="DiskFile"/>. Callers turn it into a public one.</summary>
internal sealed class DiskException : IOException
{
    public DiskException(DiskError error, string operation, string path, string reason, int nativeError = 0)
        : base($"{operation} failed on '{path}': {reason}" + (nativeError != 0 ? $" (error {nativeError})." : "."))
    {
        Error = error;
        Operation = operation;
        Path = path;
        NativeError = nativeError;
    }

    public DiskError Error { get; }

    public string Operation { get; }

    public string Path { get; }

    public int NativeError { get; }
}
