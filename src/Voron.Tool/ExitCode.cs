namespace Voron.Tool;

/// <summary>The exit codes of the tool. Scripts depend on them, so they do not change.</summary>
internal enum ExitCode
{
    Done = 0,

    /// <summary>Problems or losses were found.</summary>
    Problems = 1,

    /// <summary>The command line is not right.</summary>
    Usage = 2,

    /// <summary>There is no environment, no tree, no key or no file.</summary>
    NothingThere = 3,

    /// <summary>Another process uses the environment, or the target is taken.</summary>
    InUse = 4,

    /// <summary>The environment or the backup is damaged.</summary>
    Damaged = 5,

    /// <summary>The device or the memory is full.</summary>
    NoRoom = 6,

    /// <summary>The system refused an operation on a file.</summary>
    NoAccess = 7,

    /// <summary>The files are of a newer format, or of another program.</summary>
    OtherFormat = 8,

    /// <summary>A chain of backups has a gap, or the state that was asked for cannot be reached.</summary>
    TargetNotReached = 9,

    /// <summary>The user cancelled the command.</summary>
    Cancelled = 130,
}
