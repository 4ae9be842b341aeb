using Voron.Recording;
using Voron.Trees;

namespace Voron.Feeds;

/// <summary>Verifies feeds.</summary>
public static class FeedVerification
{
    private const int MaxProblems = 1000;

    /// <summary>
    /// Reads all changes of a feed and compares them with its sources, its cut and its consumers, and the marks of the recorded trees with its
    /// entries. <see cref="StorageEnvironment.Verify"/> verifies the trees that store all this, but not their meaning.
    /// </summary>
    /// <param name="environment">The environment.</param>
    /// <param name="feed">The name of the feed.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="KeyNotFoundException">The feed does not exist.</exception>
    /// <exception cref="CorruptionException">The entry of the feed is damaged.</exception>
    /// <exception cref="ArgumentNullException">The environment is null.</exception>
    /// <exception cref="ArgumentException">The name is empty, too long, or not valid text.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    /// <exception cref="OperationCanceledException">The call was cancelled.</exception>
    public static FeedVerificationReport VerifyFeed(this StorageEnvironment environment, string feed, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(environment);
        using var reading = environment.BeginRead();
        var registry = new FeedRegistry(reading);
        var record = registry.Get(feed);
        var problems = new List<string>();
        var changes = 0L;
        try
        {
            changes = CheckChanges(feed, registry, record, reading.TransactionId, problems, cancellationToken);
            CheckMarks(reading, registry, record, problems);
            CheckConsumers(registry, record, reading.TransactionId, problems);
        }
        catch (CorruptionException e)
        {
            problems.Add(e.Message);
        }

        return new FeedVerificationReport(feed, reading.TransactionId, changes, problems);
    }

    private static long CheckChanges(
        string feed, FeedRegistry registry, FeedRecord record, long newest, List<string> problems, CancellationToken stop)
    {
        var (changes, last) = (0L, default(ChangePosition));
        var sources = new Dictionary<uint, SourceRecord>();
        foreach (var (number, source, _) in registry.Sources(record))
            sources[number] = source;
        var oldest = registry.OldestOf(record);
        foreach (var entry in registry.OpenChanges(feed, record).GetEntries())
        {
            stop.ThrowIfCancellationRequested();
            changes++;
            if (!ChangeRecord.TryReadKey(entry.Key, out var id, out var ordinal) || !ChangeRecord.TryRead(entry.Value, out var change))
            {
                Add(problems, $"the change {KeyText.Of(entry.Key)} is damaged");
                continue;
            }

            var position = new ChangePosition(id, ordinal, oldest.Stamp);
            if (position <= last)
                Add(problems, $"the change {position} comes behind {last}");
            if (position <= oldest || id > newest)
                Add(problems, $"the change {position} is not between {oldest} and transaction {newest}");
            if (!sources.TryGetValue(change.Source, out var source))
                Add(problems, $"the change {position} names source {change.Source}, which the feed does not have");
            else if (source.EndedId != 0 && id > source.EndedId)
                Add(problems, $"the change {position} is of source {change.Source}, which ended in transaction {source.EndedId}");
            if (id != last.TransactionId && change.Time == 0)
                Add(problems, $"the change {position} is the first one of its transaction, and has no time");
            last = position;
        }

        return changes;
    }

    private static void CheckConsumers(FeedRegistry registry, FeedRecord record, long newest, List<string> problems)
    {
        foreach (var consumer in registry.Consumers(record).Where(consumer => consumer.Position.TransactionId > newest))
            Add(problems, $"the consumer '{consumer.Name}' is at {consumer.Position}, behind transaction {newest}, the newest one");
    }

    // Every marked tree must have an entry, and every tree with an entry a mark: otherwise changes are lost, or refused.
    private static void CheckMarks(ReadTransaction reading, FeedRegistry registry, FeedRecord record, List<string> problems)
    {
        var marked = reading.GetRecordedTrees();
        if (!registry.TryOpen(out var feeds))
            return;
        var known = registry.Names().ConvertAll(name => registry.Get(name).Number);
        var current = registry.Sources(record).Where(source => source.Record.EndedId == 0).Select(source => source.Number).ToHashSet();
        foreach (var entry in feeds.Prefix(FeedKeys.Trees))
        {
            var treeId = FeedKeys.TreeId(entry.Key);
            var isMarked = marked.Remove(treeId, out var name);
            if (!TreeRecording.TryRead(entry.Value, out var tree))
                Add(problems, $"the entry of tree {treeId} is damaged");
            else if (!known.Contains(tree.Feed))
                Add(problems, $"the entry of tree {treeId} names feed {tree.Feed}, which does not exist");
            else if (tree.Feed == record.Number && !isMarked)
                Add(problems, $"tree {treeId} has an entry, but is not marked as recorded");
            else if (tree.Feed == record.Number && !current.Contains(tree.Source))
                Add(problems, $"the entry of tree {treeId} names source {tree.Source}, which the feed does not have, or which has ended");
        }

        foreach (var name in marked.Values)
            Add(problems, $"the {name} is marked as recorded, but no feed has an entry for it");
    }

    private static void Add(List<string> problems, string problem)
    {
        if (problems.Count < MaxProblems)
            problems.Add(problem);
    }
}

/// <summary>The findings of the verification of a feed.</summary>
/// <param name="FeedName">The name of the feed.</param>
/// <param name="TransactionId">The newest transaction of the snapshot that was read.</param>
/// <param name="Changes">The number of changes read.</param>
/// <param name="Problems">One description for each problem, at most 1,000; empty if the feed is sound.</param>
public sealed record FeedVerificationReport(string FeedName, long TransactionId, long Changes, IReadOnlyList<string> Problems)
{
    /// <summary>True if no problem was found.</summary>
    public bool IsSound => Problems.Count == 0;
}
