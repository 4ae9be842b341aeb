using Voron.Testing;

namespace Voron.Backup;

/// <summary>
/// The order of the backups of a directory. Neither transaction ids nor times compare across lineages: an abandoned history may have the higher
/// ids, the later times, or both. A lineage therefore sorts after the one it forked from, together with all its own forks; of several forks, and of
/// unrelated lineages, the one whose newest backup finished last sorts last. Within a lineage, the transaction id decides.
/// </summary>
internal static class BackupOrder
{
    /// <summary>Returns the backups in order, unreadable ones first and the newest last.</summary>
    public static List<BackupSetEntry> Sort(IEnumerable<BackupSetEntry> entries)
    {
        var byLineage = entries.ToLookup(entry => entry.Info is { } info ? LineageOf(info) : default((Guid, Guid)?));
        var branches = new Dictionary<(Guid, Guid), Branch>();
        foreach (var group in byLineage.Where(group => group.Key != null))
            branches.Add(group.Key!.Value, new Branch([.. group.Order(WithinLineage)]));
        var roots = Connect(branches);

        var sorted = byLineage[null].OrderBy(entry => entry.File, StringComparer.Ordinal).ToList();
        var next = new Stack<Branch>(InOrder(roots).Reverse());
        while (next.TryPop(out var branch))
        {
            sorted.AddRange(branch.Entries);
            foreach (var fork in InOrder(branch.Forks).Reverse())
                next.Push(fork);
        }

        return sorted;
    }

    // A merged backup sorts after the backup that it was made from.
    private static readonly Comparer<BackupSetEntry> WithinLineage = Comparer<BackupSetEntry>.Create((one, other) =>
    {
        var result = one.Info!.TransactionId.CompareTo(other.Info!.TransactionId);
        if (result == 0)
            result = one.Info.IsFull.CompareTo(other.Info.IsFull);
        if (result == 0)
            result = one.Info.FinishedAt.CompareTo(other.Info.FinishedAt);
        return result != 0 ? result : string.CompareOrdinal(one.File, other.File);
    });

    private static (Guid Environment, Guid Lineage) LineageOf(BackupInfo info) =>
        (info.EnvironmentId, PlantedFault.IgnoreLineages ? default : info.LineageId);

    private static IEnumerable<Branch> InOrder(List<Branch> branches) =>
        branches.OrderBy(branch => branch.NewestOfAll).ThenBy(branch => branch.Entries[0].File, StringComparer.Ordinal);

    // Returns the branches whose parent has no backup here.
    private static List<Branch> Connect(Dictionary<(Guid Environment, Guid Lineage), Branch> branches)
    {
        var roots = new List<Branch>();
        foreach (var (key, branch) in branches)
        {
            var parent = branches.GetValueOrDefault((key.Environment, branch.Parent));
            if (parent == null || branch.Parent == Guid.Empty || IsAncestor(branch, parent))
            {
                roots.Add(branch);
                continue;
            }

            branch.ForkOf = parent;
            parent.Forks.Add(branch);
        }

        foreach (var branch in branches.Values)
        {
            for (var above = branch.ForkOf; above != null && above.NewestOfAll < branch.Newest; above = above.ForkOf)
                above.NewestOfAll = branch.Newest;
        }

        return roots;
    }

    // Only a forged header can create a cycle.
    private static bool IsAncestor(Branch branch, Branch of)
    {
        for (var above = of; above != null; above = above.ForkOf)
        {
            if (above == branch)
                return true;
        }

        return false;
    }

    /// <summary>The backups of a lineage.</summary>
    private sealed class Branch(List<BackupSetEntry> entries)
    {
        public List<BackupSetEntry> Entries { get; } = entries;

        public Guid Parent { get; } = entries[0].Info!.ParentLineageId;

        public List<Branch> Forks { get; } = [];

        public Branch? ForkOf { get; set; }

        /// <summary>When the newest backup of this lineage was finished.</summary>
        public DateTimeOffset Newest { get; } = entries.Max(entry => entry.Info!.FinishedAt);

        /// <summary>The same for this lineage and all of its forks.</summary>
        public DateTimeOffset NewestOfAll { get; set; } = entries.Max(entry => entry.Info!.FinishedAt);
    }
}
