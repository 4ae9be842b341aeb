namespace Voron.Tool;

/// <summary>Which exit code a failure has.</summary>
internal static class Failures
{
    // ENOSPC and EDQUOT, and ERROR_DISK_FULL.
    private const int NoSpace = 28;
    private const int OverQuota = 122;
    private const int DiskFull = unchecked((int)0x80070070);

    public static ExitCode CodeOf(Exception failure) => failure switch
    {
        ToolException tool => tool.Code,
        OperationCanceledException => ExitCode.Cancelled,
        BackupException backup => CodeOf(backup.Fault),
        EnvironmentNotFoundException or KeyNotFoundException or FileNotFoundException or DirectoryNotFoundException => ExitCode.NothingThere,
        EnvironmentInUseException or EnvironmentExistsException => ExitCode.InUse,
        CorruptionException => ExitCode.Damaged,
        UnsupportedFormatException => ExitCode.OtherFormat,
        StorageFullException or StorageMemoryException or OutOfMemoryException or IOException { HResult: NoSpace or OverQuota or DiskFull } =>
            ExitCode.NoRoom,
        StorageAccessException or EnvironmentPoisonedException or IOException or UnauthorizedAccessException => ExitCode.NoAccess,
        ArgumentException or FormatException => ExitCode.Usage,
        _ => ExitCode.Problems,
    };

    private static ExitCode CodeOf(BackupFault fault) => fault switch
    {
        BackupFault.Unfinished or BackupFault.Damaged => ExitCode.Damaged,
        BackupFault.TargetNotEmpty => ExitCode.InUse,
        BackupFault.WrongEnvironment or BackupFault.WrongLineage or BackupFault.WrongParent or BackupFault.UnknownBase
            or BackupFault.TargetNotReached => ExitCode.TargetNotReached,
        _ => ExitCode.Problems,
    };
}
