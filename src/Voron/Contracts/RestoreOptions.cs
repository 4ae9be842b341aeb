using Microsoft.Extensions.Logging;

namespace Voron;

/// <summary>The options of a restore: <see cref="BackupFile"/>.</summary>
public sealed class RestoreOptions
{
    /// <summary>
    /// Reads the restored environment back from the device and verifies all of it (<see cref="StorageEnvironment.Verify"/>) before it counts as
    /// restored; the default is true. Otherwise only the checksums of the backup are checked, so a page that was damaged before it was copied is
    /// restored as it is.
    /// </summary>
    public bool VerifyRestored { get; set; } = true;

    /// <inheritdoc cref="StorageOptions.FileMode"/>
    public UnixFileMode FileMode { get; set; } = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Makes the loggers for warnings of the storage and of the verification; null for no logging.</summary>
    public ILoggerFactory? LoggerFactory { get; set; }

    /// <summary>
    /// Receives the progress, about once for each MiB, on the thread that restores; null for none. The restore waits for each call, and an exception
    /// ends it.
    /// </summary>
    public IProgress<RestoreProgress>? Progress { get; set; }
}
