namespace Voron;

/// <summary>
/// A backup cannot be made, read or restored: <see cref="Fault"/> gives the reason, and the message names the file, the position, and the expected
/// and actual values.
/// </summary>
public sealed class BackupException : VoronException
{
    internal BackupException(BackupFault fault, string message, Exception? cause = null)
        : base(message, cause)
    {
        Fault = fault;
    }

    /// <summary>The reason.</summary>
    public BackupFault Fault { get; }
}

/// <summary>The reason why a backup cannot be made, read or restored.</summary>
public enum BackupFault
{
    /// <summary>The backup has no end: the file was truncated, or the backup was interrupted. It cannot be trusted.</summary>
    Unfinished = 1,

    /// <summary>The backup is damaged, or is no backup.</summary>
    Damaged,

    /// <summary>The backups come from different environments, or have different page sizes.</summary>
    WrongEnvironment,

    /// <summary>The backups belong to different histories of an environment: it was restored between them.</summary>
    WrongLineage,

    /// <summary>A backup builds on a backup other than the one before it.</summary>
    WrongParent,

    /// <summary>The environment has no record, or no longer has one, of the backup to build on.</summary>
    UnknownBase,

    /// <summary>The path of the backup is already taken, or the directory for a copied or restored environment is not empty.</summary>
    TargetNotEmpty,

    /// <summary>No backup of a set can be restored, or none contains a state as early as requested.</summary>
    TargetNotReached,

    /// <summary>The format of the environment was upgraded while the backup was being made.</summary>
    FormatChanged,
}
