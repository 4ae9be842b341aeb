using System.Globalization;
using Voron.Format;

namespace Voron.Backup;

/// <summary>The backups of a directory, and which of them build on each other. There is no list that could disagree with the files.</summary>
internal sealed class BackupShelf
{
    public const string Pattern = "*" + Suffix;

    private const string Suffix = ".vback";
    private const string TimeFormat = "yyyyMMdd'T'HHmmssfff'Z'";

    private readonly List<BackupSetEntry> _entries = [];

    /// <summary>All files, the oldest backup first; those that cannot be read come first of all.</summary>
    public IReadOnlyList<BackupSetEntry> Entries => _entries;

    /// <summary>Returns a file name for a new backup of a set, which no other backup has.</summary>
    /// <param name="kind">What the name begins with.</param>
    public static string NewName(string kind) =>
        string.Create(CultureInfo.InvariantCulture, $"{kind}-{DateTime.UtcNow.ToString(TimeFormat, CultureInfo.InvariantCulture)}-{RandomId.New().Lower:X16}{Suffix}");

    /// <summary>Returns true for a name that a set has given.</summary>
    public static bool IsOwnName(string name) =>
        name.Split('-') is [{ Length: > 0 }, var time, { Length: 22 } end] && end.EndsWith(Suffix, StringComparison.Ordinal)
        && end[..^Suffix.Length].All(char.IsAsciiHexDigitUpper)
        && DateTime.TryParseExact(time, TimeFormat, CultureInfo.InvariantCulture, DateTimeStyles.None, out _);

    /// <summary>Reads the beginning and the end of each file. One that cannot be read has a problem; one that has vanished is left out.</summary>
    /// <exception cref="StorageAccessException">The directory cannot be listed.</exception>
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
            catch (Exception e) when (e is BackupException or UnsupportedFormatException or StorageAccessException)
            {
                // Another process may have deleted it.
                if (File.Exists(file))
                    found.Add(new BackupSetEntry { File = file, Problem = e.Message });
            }
        }

        found.Sort(Compare);
        var shelf = new BackupShelf();
        shelf._entries.AddRange(found.Select(entry => entry.Info == null ? entry : WithChain(entry, found)));
        return shelf;
    }

    /// <summary>Returns the newest backup that can be restored, and that has a state from no later than a time; null if there is none.</summary>
    public BackupSetEntry? FindNewest(DateTimeOffset notAfter) =>
        _entries.LastOrDefault(entry => entry.Chain.Count > 0 && TimeOf(entry.Info!) <= notAfter);

    /// <summary>
    /// Returns the chains of the backups that can be restored: the full backup, and all that build on it. The chain whose newest backup is the oldest
    /// comes first.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<BackupSetEntry>> Chains() => _entries
        .Where(entry => entry.Chain.Count > 0)
        .GroupBy(entry => entry.Chain[0])
        .Select(group => (Newest: group.Last(), Chain: (IReadOnlyList<BackupSetEntry>)[.. group.OrderBy(entry => entry.Chain.Count)]))
        .OrderBy(chain => chain.Newest, Comparer<BackupSetEntry>.Create(Compare))
        .Select(chain => chain.Chain)
        .ToList();

    /// <summary>The time of the state, as far as it is known.</summary>
    public static DateTimeOffset TimeOf(BackupInfo info) => info.Time ?? info.FinishedAt;

    // By the time of the state, not by transactions: after a restore, the ids of an abandoned history may be higher. A merged backup comes behind
    // the one
    // that it is made of.
    private static int Compare(BackupSetEntry one, BackupSetEntry other)
    {
        if (one.Info == null || other.Info == null)
            return one.Info == other.Info ? string.CompareOrdinal(one.File, other.File) : one.Info == null ? -1 : 1;
        var result = TimeOf(one.Info).CompareTo(TimeOf(other.Info));
        if (result == 0)
            result = one.Info.TransactionId.CompareTo(other.Info.TransactionId);
        if (result == 0)
            result = one.Info.IsFull.CompareTo(other.Info.IsFull);
        if (result == 0)
            result = one.Info.FinishedAt.CompareTo(other.Info.FinishedAt);
        return result != 0 ? result : string.CompareOrdinal(one.File, other.File);
    }

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
            var parent = all.FindLast(other => other.Info?.BackupId == parentId && Fits(other.Info, chain[0].Info!));
            if (parent == null || chain.Contains(parent))
                return entry with { Problem = $"Backup {parentId}, which '{Path.GetFileName(chain[0].File)}' builds on, is not in the set." };
            chain.Insert(0, parent);
        }

        return entry with { Chain = [.. chain.Select(part => part.File)] };
    }

    private static bool Fits(BackupInfo parent, BackupInfo child) => parent.EnvironmentId == child.EnvironmentId
        && parent.PageSize == child.PageSize && parent.TransactionId == child.ParentTransactionId;
}
