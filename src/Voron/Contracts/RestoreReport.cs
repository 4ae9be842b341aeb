namespace Voron;

/// <summary>The result of a restore: <see cref="BackupFile"/>.</summary>
/// <param name="Backup">The backup whose state was restored: the last one of the chain.</param>
/// <param name="Pages">The number of pages in use in the restored environment.</param>
/// <param name="Bytes">The number of bytes read from the backups.</param>
/// <param name="Duration">The duration of the restore, including its verification.</param>
/// <param name="Verification">The findings of <see cref="RestoreOptions.VerifyRestored"/>; null if that was off.</param>
public sealed record RestoreReport(BackupInfo Backup, long Pages, long Bytes, TimeSpan Duration, VerificationReport? Verification);

/// <summary>The progress of a restore, for <see cref="RestoreOptions.Progress"/>. The verification that follows is not included.</summary>
/// <param name="BytesDone">The number of bytes of the backups read and restored so far.</param>
/// <param name="BytesTotal">The total length of the backups in bytes; 0 if unknown.</param>
public readonly record struct RestoreProgress(long BytesDone, long BytesTotal);
