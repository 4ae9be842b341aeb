namespace Voron;

/// <summary>Describes which backups of a <see cref="BackupSet"/> were deleted, or would be.</summary>
/// <param name="Deleted">The files, in the order in which they are deleted: the youngest of a chain first.</param>
/// <param name="Kept">The files that stay.</param>
/// <param name="Bytes">The bytes of the deleted files.</param>
/// <param name="IsDryRun">True if nothing was deleted.</param>
public sealed record PruneReport(IReadOnlyList<string> Deleted, IReadOnlyList<string> Kept, long Bytes, bool IsDryRun);
