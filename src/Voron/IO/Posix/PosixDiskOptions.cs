namespace Voron.IO.Posix;

/// <summary>The settings of a disk that have defaults.</summary>
internal sealed record PosixDiskOptions
{
    /// <summary>The permissions of new files.</summary>
    public UnixFileMode FileMode { get; init; } = FilePermissions.OwnerOnly;

    /// <summary>The system calls that the disk's files use.</summary>
    public PosixCalls Calls { get; init; } = PosixCalls.OfSystem;

    /// <summary>True to accept a network file system.</summary>
    public bool AcceptsNetwork { get; init; }

    /// <summary>The kind of file system to assume; null to detect it.</summary>
    public FileSystemKind? Kind { get; init; }
}
