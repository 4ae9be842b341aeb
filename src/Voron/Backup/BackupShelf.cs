using System.Globalization;
using Voron.Format;
using Voron.Testing;

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
        var buffer = BackupInput.MakeSmallBuffer();
        foreach (var file in List(directory))
        {
            stop.ThrowIfCancellationRequested();
            try
            {
                var summary = await BackupSummary.ReadAsync(BackupSource.OfFile(file), buffer, stop).ConfigureAwait(false);
                found.Add(new BackupSetEntry { File = file, Info = summary.ToInfo() });
            }
            catch (Exception e) when (e is BackupException or UnsupportedFormatException or StorageAccessException)
            {
                // Another process may have deleted it.
                if (File.Exists(file))
                    found.Add(new BackupSetEntry { File = file, Problem = e.Message });
            }
        }

        var shelf = new BackupShelf();
        shelf._entries.AddRange(new BackupLinks(BackupOrder.Sort(found)).Entries());
        return shelf;
    }

    /// <summary>Returns the newest backup that can be restored, and that has a state from no later than a time; null if there is none.</summary>
    public BackupSetEntry? FindNewest(DateTimeOffset notAfter) =>
        _entries.LastOrDefault(entry => entry.Chain.Count > 0 && TimeOf(entry.Info!) <= notAfter);

    /// <summary>
    /// Returns the chains of the backups that can be restored: a full one with all that build on it. Chains are in the order of their last backups.
    /// </summary>
    public IReadOnlyList<IReadOnlyList<BackupSetEntry>> Chains()
    {
        var usable = _entries.Where(entry => entry.Chain.Count > 0).ToList();
        var chains = usable.ToLookup(entry => entry.Chain[0]);
        return
        [
            .. usable.Where(entry => chains[entry.Chain[0]].Last() == entry)
                .Select(last => chains[last.Chain[0]].OrderBy(entry => entry.Chain.Count).ToList()),
        ];
    }

    /// <summary>
    /// Returns the chains that need not be kept: neither one of the newest, nor that with the newest state, nor that with the backup that was
    /// finished last, nor one with a young backup.
    /// </summary>
    public IEnumerable<IReadOnlyList<BackupSetEntry>> OldChains(int keepFull, TimeSpan keepFor)
    {
        var now = DateTimeOffset.UtcNow;
        var newest = FindNewest(DateTimeOffset.MaxValue);
        var last = _entries.Where(entry => entry.Chain.Count > 0).MaxBy(entry => entry.Info!.FinishedAt);
        return Chains().SkipLast(keepFull)
            .Where(chain => !chain.Contains(newest!) && !chain.Contains(last!))
            .Where(chain => chain.All(entry => now - entry.Info!.FinishedAt >= keepFor));
    }

    /// <summary>
    /// The time of the state, as far as it is known. A commit cannot have come after the backup: where its time is later, a clock was wrong when it
    /// was made, and since a commit time never falls, it may be that of no later commit either.
    /// </summary>
    public static DateTimeOffset TimeOf(BackupInfo info) =>
        info.Time is { } time && (time < info.FinishedAt || PlantedFault.BelieveCommitTimes) ? time : info.FinishedAt;

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
}
