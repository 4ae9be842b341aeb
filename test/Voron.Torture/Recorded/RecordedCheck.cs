using Voron.Feeds;
using Voron.Tables;
using Voron.Torture.Tables;

namespace Voron.Torture.Recorded;

/// <summary>
/// Checks a <see cref="RecordedStore"/> without a model of it: the indexes agree with the rows, the feed is sound, and its changes lead to what
/// the tree and the tables have.
/// </summary>
internal static class RecordedCheck
{
    private const int BatchBytes = 4_000;

    /// <summary>Finds what is wrong; null if nothing is.</summary>
    /// <exception cref="VoronException">A part cannot be read.</exception>
    public static string? FindFault(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        if (!reading.TryOpenTree(RecordedStore.TreeName, out _))
            return null;
        return FindFault(reading.VerifyTable(RecordedStore.Rows)) ?? FindFault(reading.VerifyTable(RecordedStore.Numbered))
            ?? FindFault(environment.VerifyFeed(RecordedStore.Feed)) ?? Replay(reading);
    }

    /// <summary>Returns whether changes of the feed have been deleted.</summary>
    public static bool IsCut(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.GetFeeds().Any(feed => feed.Name == RecordedStore.Feed && feed.Oldest.Ordinal != 0);
    }

    private static string? FindFault(TableVerificationReport report) =>
        report.IsSound && report.Unchecked.Count == 0 ? null : $"the indexes of a table disagree with its rows: {report}";

    private static string? FindFault(FeedVerificationReport report) =>
        report.IsSound ? null : $"the feed is not sound: {string.Join("; ", report.Problems.Take(5))}";

    /// <summary>Makes the changes of the feed, and compares the result with the tree and the tables.</summary>
    /// <remarks>A feed that was cut says nothing of entries that have not changed since.</remarks>
    public static string? Replay(ReadTransaction reading)
    {
        var info = reading.GetFeeds().Single(feed => feed.Name == RecordedStore.Feed);
        var isWhole = info.Oldest.Ordinal == 0;
        var replayed = new Dictionary<(FeedSource, string), int?>();
        var batch = new ChangeBatch(BatchBytes);
        var changes = 0L;
        for (var at = isWhole ? ChangePosition.Start : info.Oldest; reading.ReadChanges(RecordedStore.Feed, at, batch); at = batch.Position)
        {
            foreach (var change in batch)
            {
                if (Apply(change, replayed) is { } fault)
                    return fault;
                changes++;
            }
        }

        if (changes != info.Changes)
            return $"the feed says that it has {info.Changes} changes, and {changes} were read";
        var actual = Read(reading);
        foreach (var (key, number) in replayed)
        {
            var isThere = actual.TryGetValue(key, out var found);
            if (isThere ? number != found : number != null)
                return $"the feed leads to {number?.ToString() ?? "nothing"} under {key}, and {(isThere ? found : "nothing")} is found";
        }

        var unknown = actual.Keys.FirstOrDefault(key => !replayed.ContainsKey(key));
        return isWhole && unknown.Item1 != null ? $"no change of the feed is of {unknown}" : null;
    }

    private static string? Apply(Change change, Dictionary<(FeedSource, string), int?> replayed)
    {
        var source = change.Source;
        switch (change.Operation)
        {
            case ChangeOperation.SourceAdded:
                return null;
            case ChangeOperation.DeleteRange:
                foreach (var key in replayed.Keys.Where(key => key.Item1 == source).ToList())
                {
                    if (change.Range.Contains(ModelKey.ToBytes(key.Item2)))
                        replayed[key] = null;
                }

                return null;
            case ChangeOperation.Put or ChangeOperation.Insert or ChangeOperation.Update or ChangeOperation.Delete:
                var place = (source, ModelKey.Of(change.Key));
                var isKnown = replayed.TryGetValue(place, out var before);
                if (change.HasOldValue && isKnown && before != change.GetOldRow(RecordedStore.Rows).Number)
                    return $"{change} has the old row {change.GetOldRow(RecordedStore.Rows)}, and the feed has led to {before}";
                if (isKnown && source.IsTable && before == null != (change.Operation == ChangeOperation.Insert))
                    return $"{change} comes where the feed has led to {before?.ToString() ?? "nothing"}";
                replayed[place] = change.Operation == ChangeOperation.Delete ? null : NumberOf(change);
                return null;
            default:
                return $"{change} was never made";
        }
    }

    private static int NumberOf(Change change) => !change.Source.IsTable ? RecordedRow.NumberOf(change.NewValue)
        : change.Source.Name == RecordedStore.Rows.Name ? change.GetRow(RecordedStore.Rows).Number
        : change.GetRow(RecordedStore.Numbered).Number;

    private static Dictionary<(FeedSource, string), int> Read(ReadTransaction reading)
    {
        var actual = new Dictionary<(FeedSource, string), int>();
        var tree = new FeedSource(RecordedStore.TreeName, IsTable: false);
        foreach (var entry in reading.OpenTree(RecordedStore.TreeName).GetEntries())
            actual.Add((tree, ModelKey.Of(entry.Key)), RecordedRow.NumberOf(entry.Value));
        Span<byte> buffer = stackalloc byte[16];
        foreach (var (key, number) in RecordedStore.ReadRows(reading))
        {
            var isRows = key % 2 == 0;
            var source = new FeedSource(isRows ? RecordedStore.Rows.Name : RecordedStore.Numbered.Name, IsTable: true);
            actual.Add((source, ModelKey.Of(isRows ? new KeyWriter(buffer).Add(key).Written : RowIdBytes.Write(key, buffer))), number);
        }

        return actual;
    }
}
