using System.Runtime.CompilerServices;
using Voron.Backup;
using Voron.Format;
using Voron.IO;
using Voron.Torture.Crashes;

namespace Voron.Torture.Backups;

/// <summary>What holds of each backup that has its name: it is whole, and restores the state of the transaction that it names.</summary>
internal static class NamedBackup
{
    /// <summary>Restores the last of some backups that build on each other, and opens what was restored.</summary>
    /// <param name="backups">The disk with the backups.</param>
    /// <param name="names">Their names, that of the full one first.</param>
    /// <param name="transactionId">The transaction that the last one names.</param>
    /// <param name="target">The disk for the environment.</param>
    /// <param name="options">How to restore.</param>
    public static StorageEnvironment Restore(IDisk backups, IEnumerable<string> names, long transactionId, IDisk target, RestoreOptions options)
    {
        var files = names.Select(name => BackupSource.OfFile(backups, name)).ToArray();
        Finished(BackupFile.RestoreAsync(files, target, options, CancellationToken.None));
        var restored = StorageEnvironment.Open(target, new StorageOptions { BackgroundFlush = false });
        using var reading = restored.BeginRead();
        if (reading.TransactionId == transactionId)
            return restored;
        restored.Dispose();
        throw new CrashViolationException($"'{files[^1].Name}' has transaction {reading.TransactionId} instead of {transactionId}");
    }

    /// <summary>Checks that a backup is whole, and known to an environment if it says that later ones can build on it.</summary>
    public static void Check(StorageEnvironment environment, IDisk backups, string name)
    {
        var file = BackupSource.OfFile(backups, name);
        Finished(BackupFile.VerifyAsync(file, CancellationToken.None));
        var info = Finished(BackupFile.ReadAsync(file, CancellationToken.None));
        if (info.IsBase && !IsKnown(environment, info.BackupId))
            throw new CrashViolationException($"'{name}' says that later backups can build on it, but the environment does not know it");
    }

    /// <summary>Returns whether an environment knows which pages have changed since a backup.</summary>
    public static bool IsKnown(StorageEnvironment environment, Guid backupId) =>
        environment.Internals.Engine.ChangedPages!.FindPoint(Unsafe.BitCast<Guid, RandomId>(backupId)) != null;

    private static T Finished<T>(ValueTask<T> task) => task.AsTask().GetAwaiter().GetResult();
}
