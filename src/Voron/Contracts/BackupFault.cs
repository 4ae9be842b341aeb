namespace Voron;

/// <summary>The reason why a backup cannot be made, read or restored.</summary>
public enum BackupFault
{
    /// <summary>The backup has no end: it was cut short, or its making was. It is not to be believed.</summary>
    Unfinished = 1,

    /// <summary>The backup is damaged, or is no backup.</summary>
    Damaged,

    /// <summary>The backups are of different environments, or of different page sizes.</summary>
    WrongEnvironment,

    /// <summary>The backups are of different histories of an environment: it was restored between them.</summary>
    WrongLineage,

    /// <summary>A backup builds on another one than the one before it.</summary>
    WrongParent,

    /// <summary>The environment does not know the backup that is to be built on, or not any more.</summary>
    UnknownBase,

    /// <summary>There is something where the backup or the restored environment should be.</summary>
    TargetNotEmpty,

    /// <summary>No backup of a set can be restored, or none with a state as early as asked for.</summary>
    TargetNotReached,

    /// <summary>The format of the environment was upgraded while the backup was being made.</summary>
    FormatChanged,
}
