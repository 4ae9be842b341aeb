namespace Voron.Backup;

/// <summary>Resolves which backups of a directory build on which, visiting each once.</summary>
/// <param name="sorted">The backups in order, see <see cref="BackupOrder"/>.</param>
internal sealed class BackupLinks(IReadOnlyList<BackupSetEntry> sorted)
{
    private readonly ILookup<Guid, BackupSetEntry> _byId = sorted.Where(entry => entry.Info != null).ToLookup(entry => entry.Info!.BackupId);
    private readonly Dictionary<BackupSetEntry, Link> _links = new(ReferenceEqualityComparer.Instance);

    /// <summary>Returns the backups, each with its chain or a description of the missing parent.</summary>
    public IEnumerable<BackupSetEntry> Entries() => sorted.Select(entry =>
    {
        if (entry.Info == null)
            return entry;
        Follow(entry);
        var link = _links[entry];
        return link.Chain == null ? entry with { Problem = Missing(link.Orphan) } : entry with { Chain = link.Chain };
    });

    private static string Missing(BackupSetEntry orphan) =>
        $"Backup {orphan.Info!.ParentId}, which '{Path.GetFileName(orphan.File)}' builds on, is not in the set.";

    // Without recursion, because a chain may have thousands of backups. One that waits for its parents counts as an orphan: a cycle is not a chain.
    private void Follow(BackupSetEntry wanted)
    {
        var waiting = new Stack<BackupSetEntry>([wanted]);
        while (waiting.TryPeek(out var entry))
        {
            var parents = ParentsOf(entry);
            var unknown = _links.TryAdd(entry, new Link(null, entry)) ? parents.Where(parent => !_links.ContainsKey(parent)).ToList() : [];
            foreach (var parent in unknown)
                waiting.Push(parent);
            if (unknown.Count > 0)
                continue;
            _ = waiting.Pop();
            if (entry.Info!.IsFull)
                _links[entry] = new Link(new BackupFiles(null, entry.File), entry);
            else if (parents.Count > 0)
                _links[entry] = Behind(entry, parents);
        }
    }

    // The last restorable parent: a merged backup if one exists, because it sorts after the backup with the same id that it was made from.
    private Link Behind(BackupSetEntry entry, List<BackupSetEntry> parents)
    {
        var links = parents.Select(parent => _links[parent]).ToList();
        return links.FindLast(link => link.Chain != null) is { Chain: { } chain } ? new Link(new BackupFiles(chain, entry.File), entry) : links[^1];
    }

    private List<BackupSetEntry> ParentsOf(BackupSetEntry entry) => entry.Info!.ParentId is not { } id ? [] :
    [
        .. _byId[id].Where(parent => parent.Info!.EnvironmentId == entry.Info.EnvironmentId && parent.Info.PageSize == entry.Info.PageSize
            && parent.Info.TransactionId == entry.Info.ParentTransactionId),
    ];

    /// <param name="Chain">The files that a restore needs; null if one is missing.</param>
    /// <param name="Orphan">The backup of the chain whose parent is missing.</param>
    private readonly record struct Link(BackupFiles? Chain, BackupSetEntry Orphan);
}
