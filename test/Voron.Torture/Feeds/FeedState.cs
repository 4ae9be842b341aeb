using System.Collections.Immutable;
using Voron.Feeds;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <summary>The feeds, their sources and consumers, and the tables, as of one moment. Immutable.</summary>
internal sealed record FeedState
{
    public static readonly FeedState Empty = new();

    public ImmutableSortedDictionary<string, ModelFeed> Feeds { get; init; } =
        ImmutableSortedDictionary.Create<string, ModelFeed>(StringComparer.Ordinal);

    /// <summary>The trees and tables that are recorded.</summary>
    public ImmutableDictionary<FeedSource, Recording> Recorded { get; init; } = ImmutableDictionary<FeedSource, Recording>.Empty;

    /// <summary>The tables that there are. Their contents are changed in copies only.</summary>
    public ImmutableDictionary<string, TableContent> Tables { get; init; } = ImmutableDictionary<string, TableContent>.Empty;

    /// <summary>The positions of the named consumers.</summary>
    public ImmutableDictionary<(string Feed, string Consumer), ChangePosition> Consumers { get; init; } =
        ImmutableDictionary<(string Feed, string Consumer), ChangePosition>.Empty;

    /// <summary>All recordings that have begun, in their order.</summary>
    public ImmutableList<BegunRecording> Begun { get; init; } = [];

    /// <summary>Returns whether a tree is recorded with its values.</summary>
    public bool RecordsValues(string tree) =>
        Recorded.TryGetValue(new FeedSource(tree, IsTable: false), out var recording) && recording.HasNew;

    /// <summary>Returns the sources that a feed records.</summary>
    public IEnumerable<FeedSource> SourcesOf(string feed) => Recorded.Where(recorded => recorded.Value.Feed == feed).Select(recorded => recorded.Key);

    public FeedState Drop(string tree) => Stop(new FeedSource(tree, IsTable: false));

    /// <summary>A source is recorded no more.</summary>
    public FeedState Stop(FeedSource source) => Recorded.ContainsKey(source) ? this with { Recorded = Recorded.Remove(source) } : this;

    /// <summary>A tree that is recorded stays so under another name.</summary>
    public FeedState Rename(string tree, string newName)
    {
        var source = new FeedSource(tree, IsTable: false);
        return Recorded.TryGetValue(source, out var recording)
            ? this with { Recorded = Recorded.Remove(source).Add(source with { Name = newName }, recording) }
            : this;
    }

    /// <summary>A feed is deleted with all that belongs to it.</summary>
    public FeedState Delete(string feed) => this with
    {
        Feeds = Feeds.Remove(feed),
        Recorded = Recorded.RemoveRange(SourcesOf(feed)),
        Consumers = Consumers.RemoveRange(Consumers.Keys.Where(key => key.Feed == feed)),
    };

    public FeedState DeleteTable(string table) => Stop(new FeedSource(table, IsTable: true)) with { Tables = Tables.Remove(table) };

    public FeedState WithTable(string table, TableContent content) => this with { Tables = Tables.SetItem(table, content) };
}
