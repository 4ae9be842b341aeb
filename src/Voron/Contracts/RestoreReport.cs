namespace Voron;

/// <summary>The result of a restore: <see cref="BackupFile"/>.</summary>
/// <param name="Backup">The backup whose state was restored: the last one of the chain.</param>
/// <param name="Pages">The number of pages in use that the restored environment has.</param>
/// <param name="Bytes">The number of bytes of backups that were read.</param>
/// <param name="Duration">The time that the restore took, with its verification.</param>
/// <param name="Verification">The findings of <see cref="RestoreOptions.VerifyRestored"/>; null if that was off.</param>
public sealed record RestoreReport(BackupInfo Backup, long Pages, long Bytes, TimeSpan Duration, VerificationReport? Verification);
