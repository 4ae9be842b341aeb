namespace Voron;

/// <summary>Options of <see cref="StorageEnvironment.CopyToAsync(string, CopyOptions?, CancellationToken)"/>.</summary>
public sealed class CopyOptions
{
    /// <inheritdoc cref="BackupOptions.MaxBytesPerSecond"/>
    public long MaxBytesPerSecond { get; set; }

    /// <inheritdoc cref="BackupOptions.VerifyValues"/>
    public bool VerifyValues { get; set; }

    /// <inheritdoc cref="BackupOptions.Progress"/>
    public IProgress<BackupProgress>? Progress { get; set; }
}
