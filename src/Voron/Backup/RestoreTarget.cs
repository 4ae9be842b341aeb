using Voron.IO;

namespace Voron.Backup;

/// <summary>The target of a restore, and the verification of the result.</summary>
/// <param name="Disk">The directory, which stays open.</param>
/// <param name="Options">The options.</param>
/// <param name="Verify">Opens the environment of a disk for reading, and verifies it.</param>
internal sealed record RestoreTarget(IDisk Disk, RestoreOptions Options, Func<IDisk, CancellationToken, VerificationReport> Verify);
