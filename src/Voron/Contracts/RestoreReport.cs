namespace Voron;

/// <summary>The result of a restore: <see cref="BackupFile"/>.</summary>
/// <param name="Backup">The backup whose state was restored: the last one of the chain.</param>
/// <param name="Pages">The number of pages in use that the restored environment has.</param>
/// <param name="Bytes">The number of bytes of backups that were read.</param>
/// <param name="Duration">The time that the restore took, with its verification.</param>
/// <param name="Verification">The findings of <see cref="RestoreOptions.VerifyRestored"/>; null if that was off.</param>
public sealed record RestoreReport(BackupInfo Backup, long Pages, long Bytes, TimeSpan Duration, VerificationReport? Verification);

/// <summary>Describes how far a restore is, for <see cref="RestoreOptions.Progress"/>. A verification after it is not included.</summary>
/// <param name="BytesDone">The number of bytes of the backups that were read and restored.</param>
/// <param name="BytesTotal">The length of all backups in bytes; 0 where it is not known.</param>
public readonly record struct RestoreProgress(long BytesDone, long BytesTotal);
