using Voron.Format;

namespace Voron.Backup;

/// <summary>Checks that a chain starts with a full backup, and that each further backup builds on the one before it.</summary>
internal static class BackupChain
{
    /// <exception cref="BackupException">A backup does not build on the one before it.</exception>
    public static void Check(IReadOnlyList<BackupSummary> chain)
    {
        CheckFirst(chain[0].Name, chain[0].Header);
        for (var i = 1; i < chain.Count; i++)
            Check(chain[i - 1], chain[i]);
    }

    /// <exception cref="BackupException">The backup is not a full one.</exception>
    public static void CheckFirst(string name, in BackupHeader header)
    {
        if (!header.IsFull)
        {
            throw new BackupException(
                BackupFault.WrongParent,
                $"The backup '{name}' is incremental and builds on backup {header.ParentId}. Restore it together with the full backup and all incremental " +
                "ones between the two, oldest first.");
        }
    }

    /// <exception cref="BackupException">The file was replaced after its ends were read.</exception>
    public static void ThrowIfReplaced(BackupReader reader, BackupSummary summary)
    {
        if (reader.Header.Checksum != summary.Header.Checksum)
        {
            throw new BackupException(
                BackupFault.Damaged,
                $"The backup '{reader.Name}' was replaced while it was in use: it was backup {summary.Header.BackupId}, and is now " +
                $"{reader.Header.BackupId}. Try again when the file no longer changes.");
        }
    }

    private static void Check(BackupSummary before, BackupSummary next)
    {
        var (one, other) = (before.Header, next.Header);
        if (one.EnvironmentId != other.EnvironmentId || one.PageSize != other.PageSize)
        {
            throw Fault(
                BackupFault.WrongEnvironment, before, next,
                $"it belongs to environment {other.EnvironmentId} with {other.PageSize}-byte pages, the other to {one.EnvironmentId} with " +
                $"{one.PageSize}");
        }

        if (one.Lineage.Id != other.Lineage.Id)
            throw Fault(BackupFault.WrongLineage, before, next, $"it belongs to lineage {other.Lineage.Id}, the other to {one.Lineage.Id}");
        if (other.ParentId != one.BackupId || other.ParentTransactionId != before.Trailer.TransactionId)
        {
            throw Fault(
                BackupFault.WrongParent, before, next,
                $"it builds on {Parent(other)}, and the other is backup {one.BackupId} as of transaction {before.Trailer.TransactionId}");
        }
    }

    private static string Parent(in BackupHeader header) =>
        header.IsFull ? "no other backup" : $"backup {header.ParentId} as of transaction {header.ParentTransactionId}";

    private static BackupException Fault(BackupFault fault, BackupSummary before, BackupSummary next, string reason) => new(
        fault, $"The backup '{next.Name}' does not build on '{before.Name}': {reason}. Restore the backups of one chain, oldest first.");
}
