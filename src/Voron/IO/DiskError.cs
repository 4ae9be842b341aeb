namespace Voron.IO;

/// <summary>The reason why a disk operation failed.</summary>
internal enum DiskError
{
    /// <summary>The device or the file system reported a failure (EIO and every error without a separate value here).</summary>
    Failed,

    /// <summary>There is no space, a quota is used up, or a file would become longer than the file system or a process limit allows.</summary>
    NoSpace,

    /// <summary>Access is denied, or the file system is read-only.</summary>
    AccessDenied,

    /// <summary>The file or directory does not exist.</summary>
    NotFound,

    /// <summary>The file already exists.</summary>
    AlreadyExists,

    /// <summary>Another owner holds the lock.</summary>
    Locked,

    /// <summary>The file ends before the requested bytes.</summary>
    EndOfFile,

    /// <summary>The file system cannot do this (unbuffered I/O, hole punching, mapping).</summary>
    NotSupported,
}
