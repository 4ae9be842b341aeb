using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>The options of a restore: <see cref="BackupFile"/>.</summary>
public sealed class RestoreOptions
{
    /// <summary>
    /// Whether to read the restored environment back from the device and verify all of it (<see cref="StorageEnvironment.Verify"/>) before it
    /// counts as restored: true by default. Otherwise, only the checksums of the backup are checked, so a page damaged before it was copied is
    /// restored as it is.
    /// </summary>
    public bool VerifyRestored { get; set; } = true;

    /// <inheritdoc cref="StorageOptions.FileMode"/>
    public UnixFileMode FileMode { get; set; } = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Creates the loggers for warnings of the storage and of the verification; null for no logging.</summary>
    public ILoggerFactory? LoggerFactory { get; set; }

    /// <summary>
    /// Receives the progress, about once per MiB, on the thread that restores; null for none. The restore waits for each call, and an exception from
    /// it ends the restore.
    /// </summary>
    public IProgress<RestoreProgress>? Progress { get; set; }
}
