using Voron.IO;
using Voron.Tables;

namespace Voron.Tool;

/// <summary>Which exit code a failure has.</summary>
internal static class Failures
{
    public static ExitCode CodeOf(Exception failure) => failure switch
    {
        ToolException tool => tool.Code,
        OperationCanceledException => ExitCode.Cancelled,
        BackupException backup => CodeOf(backup.Fault),
        EnvironmentNotFoundException or KeyNotFoundException or FileNotFoundException or DirectoryNotFoundException => ExitCode.NothingThere,
        EnvironmentInUseException or EnvironmentExistsException => ExitCode.InUse,
        CorruptionException or IndexMismatchException => ExitCode.Damaged,
        UnsupportedFormatException => ExitCode.OtherFormat,
        StorageFullException or StorageMemoryException or OutOfMemoryException => ExitCode.NoRoom,
        IOException when SystemErrors.From(failure, operation: "", path: "").Error == DiskError.NoSpace => ExitCode.NoRoom,
        StorageAccessException or EnvironmentPoisonedException or IOException or UnauthorizedAccessException => ExitCode.NoAccess,
        ArgumentException or FormatException or PageTokenException or KeyTooLongException => ExitCode.Usage,
        _ => ExitCode.Problems,
    };

    /// <summary>Returns the message for the user. The base library names the file of a failed write, unless it is standard output.</summary>
    public static string MessageOf(Exception failure) =>
        failure is IOException && CodeOf(failure) == ExitCode.NoRoom && !failure.Message.Contains('\'', StringComparison.Ordinal)
            ? $"There is no room for standard output: {failure.Message}"
            : failure.Message;

    private static ExitCode CodeOf(BackupFault fault) => fault switch
    {
        BackupFault.Unfinished or BackupFault.Damaged => ExitCode.Damaged,
        BackupFault.TargetNotEmpty => ExitCode.InUse,
        BackupFault.WrongEnvironment or BackupFault.WrongLineage or BackupFault.WrongParent or BackupFault.UnknownBase
            or BackupFault.TargetNotReached => ExitCode.TargetNotReached,
        _ => ExitCode.Problems,
    };
}
