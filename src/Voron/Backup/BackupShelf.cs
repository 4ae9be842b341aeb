namespace Voron.Backup;

/// <summary>The backups of a directory, and which of them build on each other. There is no list that could disagree with the files.</summary>
internal sealed class BackupShelf
{
    private const string Pattern = "*.vback";

    private readonly List<BackupSetEntry> _entries = [];

    /// <summary>All files, the oldest backup first; those that cannot be read come first of all.</summary>
    public IReadOnlyList<BackupSetEntry> Entries => _entries;

    /// <summary>Reads the beginning and the end of each file.</summary>
    /// <exception cref="StorageAccessException">The directory cannot be listed, or a file cannot be read.</exception>
    public static async Task<BackupShelf> ReadAsync(string directory, CancellationToken stop)
    {
        var found = new List<BackupSetEntry>();
        foreach (var file in List(directory))
        {
            stop.ThrowIfCancellationRequested();
            try
            {
                var summary = await BackupSummary.ReadAsync(BackupSource.OfFile(file), stop).ConfigureAwait(false);
                found.Add(new BackupSetEntry { File = file, Info = summary.ToInfo() });
            }
            catch (Exception e) when (e is BackupException or UnsupportedFormatException)
            {
                found.Add(new BackupSetEntry { File = file, Problem = e.Message });
            }
        }

        var shelf = new BackupShelf();
        shelf._entries.AddRange(found.OrderBy(entry => entry.Info?.FinishedAt).ThenBy(entry => entry.File, StringComparer.Ordinal)
            .Select(entry => entry.Info == null ? entry : WithChain(entry, found)));
        return shelf;
    }

    /// <summary>Returns the newest backup that can be restored, and that has a state from no later than a time; null if there is none.</summary>
    public BackupSetEntry? FindNewest(DateTimeOffset notAfter) => _entries
        .Where(entry => entry.Chain.Count > 0 && (entry.Info!.Time ?? entry.Info.FinishedAt) <= notAfter)
        .OrderBy(entry => entry.Info!.TransactionId).ThenBy(entry => entry.Info!.FinishedAt).ThenBy(entry => entry.Info!.IsFull)
        .LastOrDefault();

    /// <summary>
    /// Returns the chains of the backups that can be restored, the oldest full one first: the full backup, and all that build on it.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<BackupSetEntry>> Chains() => _entries
        .Where(entry => entry.Chain.Count > 0)
        .GroupBy(entry => entry.Chain[0])
        .Select(group => (IReadOnlyList<BackupSetEntry>)[.. group.OrderBy(entry => entry.Chain.Count).ThenBy(entry => entry.Info!.FinishedAt)])
        .OrderBy(chain => chain[0].Info!.FinishedAt)
        .ToList();

    private static string[] List(string directory)
    {
        try
        {
            return Directory.GetFiles(directory, Pattern);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new StorageAccessException($"The backup set in '{directory}' cannot be listed: {e.Message}", e);
        }
    }

    private static BackupSetEntry WithChain(BackupSetEntry entry, List<BackupSetEntry> all)
    {
        var chain = new List<BackupSetEntry> { entry };
        while (chain[0].Info!.ParentId is { } parentId)
        {
            // A merged backup has the id of the newest one that it was made of, and all pages.
            var parent = all.Where(other => other.Info?.BackupId == parentId && Fits(other.Info, chain[0].Info!))
                .OrderBy(other => !other.Info!.IsFull)
                .FirstOrDefault();
            if (parent == null || chain.Contains(parent))
                return entry with { Problem = $"Backup {parentId}, which '{Path.GetFileName(chain[0].File)}' builds on, is not in the set." };
            chain.Insert(0, parent);
        }

        return entry with { Chain = [.. chain.Select(part => part.File)] };
    }

    private static bool Fits(BackupInfo parent, BackupInfo child) => parent.EnvironmentId == child.EnvironmentId
        && parent.PageSize == child.PageSize && parent.TransactionId == child.ParentTransactionId;
}
