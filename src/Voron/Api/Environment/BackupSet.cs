using System.Globalization;
using System.Runtime.CompilerServices;
using Voron.Backup;
using Voron.Format;
using Voron.Testing;

namespace Voron;

/// <summary>A directory with backups of one environment: full backups, and incremental backups based on them.</summary>
/// <remarks>
/// Each file records its kind and the backup that it builds on; no separate list could contradict the files. Files may be copied, moved in together
/// or deleted by hand: <see cref="ListAsync"/> then shows which are missing. Several processes may use a set at the same time.
/// </remarks>
public sealed class BackupSet
{
    // The directory is listed again each time a chain is deleted while it is examined.
    private const int MostLists = 10;

    private BackupSet(string directory) => Directory = directory;

    /// <summary>The full path of the directory.</summary>
    public string Directory { get; }

    /// <summary>Opens a set. Creates the directory if it is missing.</summary>
    /// <param name="directory">The directory of the backups.</param>
    /// <exception cref="ArgumentException">The path is empty.</exception>
    /// <exception cref="StorageFullException">There is not enough space for the directory.</exception>
    /// <exception cref="StorageAccessException">The directory cannot be created.</exception>
    public static BackupSet Open(string directory)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        var path = Path.GetFullPath(directory);
        try
        {
            System.IO.Directory.CreateDirectory(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw TargetFailure.Of($"The directory '{path}' of a backup set cannot be created: {e.Message}", e);
        }

        return new BackupSet(path);
    }

    /// <summary>
    /// Lists the backups, oldest first, with the files that each restore needs, or the reason why a backup cannot be restored. Reads only the
    /// beginning and the end of each file; <see cref="BackupFile.VerifyAsync(string, CancellationToken)"/> reads a whole file.
    /// </summary>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="StorageAccessException">The directory cannot be listed.</exception>
    public async ValueTask<IReadOnlyList<BackupSetEntry>> ListAsync(CancellationToken cancellationToken = default) =>
        (await BackupShelf.ReadAsync(Directory, cancellationToken).ConfigureAwait(false)).Entries;

    /// <summary>Backs up an environment to a new file in the set. The file name contains the kind, the time and a part of the id.</summary>
    /// <param name="environment">The environment.</param>
    /// <param name="kind">
    /// Whether all pages are copied. An incremental backup builds on the newest restorable backup that the environment recognises; if none exists, a
    /// full backup is made.
    /// </param>
    /// <param name="options">The options; null for the defaults. <see cref="BackupOptions.Since"/> is not used.</param>
    /// <param name="cancellationToken">Cancels the backup.</param>
    /// <returns>A description of the backup; its <see cref="BackupReport.ParentId"/> is null if it is a full one.</returns>
    /// <inheritdoc cref="StorageEnvironment.BackupAsync(string, BackupOptions?, CancellationToken)"/>
    public async ValueTask<BackupReport> BackupAsync(
        StorageEnvironment environment, BackupKind kind = BackupKind.Incremental, BackupOptions? options = null,
        CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        if (kind is not (BackupKind.Incremental or BackupKind.Full))
            throw new ArgumentException($"{(int)kind} is not a kind of backup.", nameof(kind));
        options = options == null ? new BackupOptions() : options.Copy();
        options.FallBackToFull = false;
        if (kind == BackupKind.Incremental && await TryBuildOnAsync(environment, options, cancellationToken).ConfigureAwait(false) is { } report)
            return report;
        options.Since = null;
        return await environment.BackupAsync(NewFile("full"), options, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Restores the newest backup of the set, or the newest that is not later than a given time.</summary>
    /// <param name="directory">The directory of the environment, which is created if it is missing, and otherwise must be empty.</param>
    /// <param name="notAfter">The latest time of the state, by its last commit; null for the newest backup.</param>
    /// <param name="options">The options; null for the defaults.</param>
    /// <param name="cancellationToken">Cancels the restore.</param>
    /// <exception cref="BackupException">
    /// The set has no backup that can be restored, or none as early as that (<see cref="BackupFault.TargetNotReached"/>); or one is damaged.
    /// </exception>
    /// <inheritdoc cref="BackupFile.RestoreAsync(IReadOnlyList{string}, string, RestoreOptions?, CancellationToken)"/>
    public async ValueTask<RestoreReport> RestoreAsync(
        string directory, DateTimeOffset? notAfter = null, RestoreOptions? options = null, CancellationToken cancellationToken = default)
    {
        var (newest, hold) = await HoldNewestAsync(notAfter ?? DateTimeOffset.MaxValue, cancellationToken).ConfigureAwait(false);
        using (hold)
            return await BackupFile.RestoreAsync(newest.Chain, directory, options, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Merges the newest restorable backup and all backups that it builds on into one full backup, and verifies it. The merged backup keeps the id of
    /// the newest one, so later backups build on it. Nothing is deleted: <see cref="PruneAsync"/> does that.
    /// </summary>
    /// <param name="cancellationToken">Cancels the merging.</param>
    /// <returns>The merged backup; the newest one itself if that is a full one.</returns>
    /// <exception cref="BackupException">No backup can be restored, or one is damaged.</exception>
    /// <exception cref="UnsupportedFormatException">A backup is of a newer format.</exception>
    /// <exception cref="StorageFullException">There is not enough space for the file.</exception>
    /// <exception cref="StorageAccessException">A file cannot be read or written.</exception>
    /// <exception cref="StorageMemoryException">The system does not have enough memory.</exception>
    /// <exception cref="OperationCanceledException">The merging was cancelled.</exception>
    public async ValueTask<BackupInfo> MergeAsync(CancellationToken cancellationToken = default)
    {
        var (newest, hold) = await HoldNewestAsync(DateTimeOffset.MaxValue, cancellationToken).ConfigureAwait(false);
        using (hold)
        {
            return newest.Info!.IsFull
                ? newest.Info
                : await BackupFile.MergeAsync(newest.Chain, NewFile("full"), compress: true, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Deletes old chains: full backups together with all backups based on them. A chain is kept if it is one of the newest, if one of its backups is
    /// recent enough, or if a backup, restore or merge in this or another process is using it. The chain with the most recently finished backup is
    /// also kept, whatever its history. The youngest file of a chain is deleted first, so no remaining file ever lacks its base. Files that cannot be
    /// restored are kept.
    /// </summary>
    /// <param name="keepFull">The number of chains to keep, at least 1.</param>
    /// <param name="keepFor">The age below which a backup is kept.</param>
    /// <param name="dryRun">True to delete nothing, and only report the files that would be deleted.</param>
    /// <param name="cancellationToken">Cancels the call; what has been deleted stays deleted.</param>
    /// <exception cref="ArgumentOutOfRangeException">No chain would be kept, or the age is negative.</exception>
    /// <exception cref="StorageAccessException">The directory cannot be listed, or a file cannot be read or deleted.</exception>
    public async ValueTask<PruneReport> PruneAsync(
        int keepFull, TimeSpan keepFor = default, bool dryRun = false, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(keepFull, 1);
        ArgumentOutOfRangeException.ThrowIfLessThan(keepFor, TimeSpan.Zero);
        var shelf = await BackupShelf.ReadAsync(Directory, cancellationToken).ConfigureAwait(false);
        var deleted = new List<BackupSetEntry>();
        foreach (var chain in shelf.OldChains(keepFull, keepFor))
        {
            cancellationToken.ThrowIfCancellationRequested();
            using var hold = dryRun ? null : BackupChainLock.TryOwn(chain[0].File);
            if (hold == null && !dryRun && !PlantedFault.DeleteHeldBackups)
                continue;
            foreach (var entry in chain.Reverse())
            {
                if (!dryRun)
                    Delete(entry.File);
                deleted.Add(entry);
            }
        }

        var files = deleted.Select(entry => entry.File).ToList();
        return new PruneReport(files, [.. shelf.Entries.Select(entry => entry.File).Except(files)], deleted.Sum(entry => entry.Info!.Bytes), dryRun);
    }

    private static void Delete(string file)
    {
        try
        {
            File.Delete(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StorageAccessException($"The backup '{file}' cannot be deleted: {e.Message}", e);
        }
    }

    private string NewFile(string kind) => Path.Combine(Directory, BackupShelf.NewName(kind));

    /// <summary>Finds a backup that can be restored, and keeps its chain from being deleted.</summary>
    private async ValueTask<(BackupSetEntry Newest, BackupChainLock Hold)> HoldNewestAsync(
        DateTimeOffset notAfter, CancellationToken cancellationToken)
    {
        for (var attempt = 1; ; attempt++)
        {
            var shelf = await BackupShelf.ReadAsync(Directory, cancellationToken).ConfigureAwait(false);
            if (shelf.FindNewest(notAfter) is not { } newest)
                throw NoBackup(shelf, notAfter);

            // Without a hold, the backup has been deleted since the list was read, and the next list does not contain it.
            if (BackupChainLock.TryShare(newest.Chain) is { } hold)
                return (newest, hold);
            if (attempt == MostLists)
                throw new StorageAccessException($"The backup '{newest.Chain[0]}' is locked by another process. Try again when that has ended.");
        }
    }

    private BackupException NoBackup(BackupShelf shelf, DateTimeOffset notAfter)
    {
        var limit = notAfter == DateTimeOffset.MaxValue ? "" : string.Create(CultureInfo.InvariantCulture, $" with a state from no later than {notAfter:O}");
        var problem = shelf.Entries.FirstOrDefault(entry => entry.Problem != null)?.Problem;
        return new BackupException(
            BackupFault.TargetNotReached,
            $"The backup set in '{Directory}' has {shelf.Entries.Count} files, but no backup{limit} that can be restored." +
            (problem == null ? "" : $" The first problem: {problem}"));
    }

    /// <summary>Makes an incremental backup. Returns null if there is no backup that it could build on.</summary>
    private async ValueTask<BackupReport?> TryBuildOnAsync(StorageEnvironment environment, BackupOptions options, CancellationToken cancellationToken)
    {
        var shelf = await BackupShelf.ReadAsync(Directory, cancellationToken).ConfigureAwait(false);
        var changes = environment.Internals.Engine.ChangedPages;
        var parent = shelf.Entries
            .Where(entry => entry.Chain.Count > 0 && changes?.FindPoint(Unsafe.BitCast<Guid, RandomId>(entry.Info!.BackupId)) != null)
            .OrderBy(entry => entry.Info!.TransactionId)
            .LastOrDefault();
        using var hold = parent == null ? null : BackupChainLock.TryShare(parent.Chain);
        if (hold == null)
            return null;
        try
        {
            options.Since = parent!.Info!.BackupId;
            var file = NewFile("incr");
            var report = await environment.BackupAsync(file, options, cancellationToken).ConfigureAwait(false);
            if (parent.Chain.All(File.Exists) || PlantedFault.DeleteHeldBackups)
                return report;

            // The backup that it builds on has been deleted by hand.
            Delete(file);
        }
        catch (BackupException e) when (e.Fault == BackupFault.UnknownBase)
        {
            // The change log has ended since.
        }

        return null;
    }
}
