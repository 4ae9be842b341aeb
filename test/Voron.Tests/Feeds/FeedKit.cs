using Voron.Feeds;
using Voron.Tests.Faults;

namespace Voron.Tests.Feeds;

/// <summary>A feed of one tree, and its changes as text.</summary>
internal static class FeedKit
{
    public const string Feed = "feed";
    public const string TreeName = "items";

    // Longer bytes are described by their length.
    private const int MostBytes = 16;

    public static CancellationToken Token => TestContext.Current.CancellationToken;

    public static StorageOptions Options()
    {
        var options = FaultTestKit.Options();
        options.LargeValueBytes = 16 << 10;
        return options;
    }

    /// <summary>Creates a feed and a tree, unless they exist, and records the tree.</summary>
    public static void Record(
        this StorageEnvironment environment, RecordedContent content = RecordedContent.NewValues, FeedOptions? options = null,
        string feed = Feed, string tree = TreeName) =>
        environment.Write(writing =>
        {
            writing.CreateFeed(feed, options);
            writing.CreateTree(tree);
            writing.RecordTree(feed, tree, content);
        });

    public static void Put(this StorageEnvironment environment, byte key, params byte[] value) =>
        environment.Write(writing => writing.OpenTree(TreeName).Put([key], value));

    public static ChangePosition Newest(this StorageEnvironment environment, string feed = Feed)
    {
        using var reading = environment.BeginRead();
        return reading.GetNewestPosition(feed);
    }

    public static FeedInfo Info(this StorageEnvironment environment, string feed = Feed)
    {
        using var reading = environment.BeginRead();
        return reading.GetFeeds().Single(info => info.Name == feed);
    }

    /// <summary>Returns all changes behind a position as text.</summary>
    public static List<string> Changes(this StorageEnvironment environment, ChangePosition after = default, string feed = Feed)
    {
        var changes = new List<string>();
        using var reading = environment.BeginRead();
        var batch = new ChangeBatch();
        while (reading.ReadChanges(feed, after, batch))
        {
            foreach (var change in batch)
                changes.Add(Describe(change));
            after = batch.Position;
        }

        return changes;
    }

    /// <summary>Makes a change, and returns as text what the feed has of it.</summary>
    public static List<string> Recorded(this StorageEnvironment environment, Action<WriteTransaction> change, string feed = Feed)
    {
        var before = environment.Newest(feed);
        environment.Write(change);
        return environment.Changes(before, feed);
    }

    /// <summary>Describes a change; its source only if that is not the usual tree.</summary>
    public static string Describe(Change change)
    {
        var text = $"{change.Operation}";
        if (change.Operation == ChangeOperation.DeleteRange)
            text += $" {change.Range.ToString()}";
        else if (!change.Key.IsEmpty)
            text += $" {Hex(change.Key)}";
        if (change.HasNewValue)
            text += $"={Hex(change.NewValue)}";
        else if (change.IsNewValueLeftOut)
            text += "=?";
        if (change.HasOldValue)
            text += $" was {Hex(change.OldValue)}";
        else if (change.IsOldValueLeftOut)
            text += " was ?";
        if (change.NewName is { } name)
            text += $" to '{name}'";
        return change.Source == new FeedSource(TreeName, IsTable: false) ? text : $"{change.Source}: {text}";
    }

    /// <summary>The changes of a feed, applied to nothing, are the tree that it records.</summary>
    public static void MustReplay(this StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        var batch = new ChangeBatch(1000);
        var model = new SortedDictionary<string, string>(StringComparer.Ordinal);
        var position = ChangePosition.Start;
        while (reading.ReadChanges(Feed, position, batch))
        {
            foreach (var change in batch)
                Apply(model, change);
            position = batch.Position;
        }

        var found = new SortedDictionary<string, string>(StringComparer.Ordinal);
        foreach (var entry in reading.OpenTree(TreeName).GetEntries())
        {
            var key = Convert.ToHexString(entry.Key);
            found[key] = model.TryGetValue(key, out var value) && value == "?" ? "?" : Convert.ToHexString(entry.Value);
        }

        model.Should().Equal(found);
    }

    private static void Apply(SortedDictionary<string, string> model, Change change)
    {
        var key = Convert.ToHexString(change.Key);
        switch (change.Operation)
        {
            case ChangeOperation.Put:
                model[key] = change.HasNewValue ? Convert.ToHexString(change.NewValue) : "?";
                break;
            case ChangeOperation.Delete:
                model.Remove(key).Should().BeTrue("only an existing entry is recorded as removed");
                break;
            case ChangeOperation.DeleteRange:
                var count = model.Count;
                foreach (var removed in model.Keys.ToList())
                {
                    if (change.Range.Contains(Convert.FromHexString(removed)))
                        model.Remove(removed);
                }

                model.Count.Should().BeLessThan(count, "only a range that had entries is recorded as removed");
                break;
            default:
                break;
        }
    }

    private static string Hex(ReadOnlySpan<byte> bytes) => bytes.Length > MostBytes ? $"[{bytes.Length}]" : Convert.ToHexString(bytes);
}

/// <summary>A clock that goes when the test says so.</summary>
internal sealed class FeedClock : TimeProvider
{
    public DateTimeOffset Now { get; set; } = new(2030, 1, 1, 0, 0, 0, TimeSpan.Zero);

    public override DateTimeOffset GetUtcNow() => Now;

    public override long GetTimestamp() => Now.UtcTicks;

    public override long TimestampFrequency => TimeSpan.TicksPerSecond;
}
