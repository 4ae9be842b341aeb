using Voron.Feeds;
using Voron.Torture.Model;

namespace Voron.Torture.Feeds;

/// <content>Sets up feeds, their sources and their consumers.</content>
internal sealed partial class FeedStore<TKey>
{
    private string DrawFeed() => _world.Feeds[_random.Next(_world.Feeds.Count)];

    private FeedState Record(WriteTransaction writing, ModelState state)
    {
        var name = DrawFeed();
        var source = DrawSource(state);
        var content = (RecordedContent)_random.Next(source.IsTable ? 4 : 2);
        Note($"record {source} in '{name}' with {content}");
        var feeds = state.Feeds!;
        if (!feeds.Feeds.ContainsKey(name))
        {
            if (_random.Next(4) == 3)
                ModelWriter.Fails<KeyNotFoundException>(() => Record(writing, name, source, content));
            var options = _random.Next(4) == 3 ? null : DrawOptions();
            writing.CreateFeed(name, options);
            feeds = feeds with
            {
                Feeds = feeds.Feeds.Add(name, new ModelFeed(name, ++_world.LastFeed, writing.TransactionId, options ?? new FeedOptions())),
            };
        }

        if (source.Name == ModelFixedTree.Name && state.FixedTree != null)
        {
            ModelWriter.Fails<InvalidOperationException>(() => Record(writing, name, source, content));
            return feeds;
        }

        if (!IsThere(state, source))
        {
            ModelWriter.Fails<KeyNotFoundException>(() => Record(writing, name, source, content));
            return feeds;
        }

        var recording = new Recording(name, content);
        if (feeds.Recorded.TryGetValue(source, out var current) && current.Feed != name)
        {
            ModelWriter.Fails<InvalidOperationException>(() => Record(writing, name, source, content));
            return feeds;
        }

        Record(writing, name, source, content);
        if (current == recording)
            return feeds;
        var begun = new BegunRecording(
            feeds.Feeds[name].Number, writing.TransactionId, source, source.IsTable ? null : state.Trees[source.Name],
            source.IsTable ? feeds.Tables[source.Name] : null, recording);
        return feeds with { Recorded = feeds.Recorded.SetItem(source, recording), Begun = feeds.Begun.Add(begun) };
    }

    private static void Record(WriteTransaction writing, string feed, FeedSource source, RecordedContent content)
    {
        if (source.IsTable)
            writing.RecordTable(feed, source.Name, content);
        else
            writing.RecordTree(feed, source.Name, content);
    }

    private FeedState StopRecording(WriteTransaction writing, ModelState state)
    {
        var source = DrawSource(state);
        Note($"stop recording {source}");
        if (source.Name == ModelFixedTree.Name && state.FixedTree != null)
        {
            ModelWriter.Fails<InvalidOperationException>(() => writing.StopRecordingTree(source.Name));
            return state.Feeds!;
        }

        var isStopped = source.IsTable ? writing.StopRecordingTable(source.Name) : writing.StopRecordingTree(source.Name);
        if (isStopped != state.Feeds!.Recorded.ContainsKey(source))
            throw new ModelMismatchException($"the stop of the recording of {source} says {isStopped}");
        return state.Feeds.Stop(source);
    }

    private FeedSource DrawSource(ModelState state)
    {
        if (_random.Next(3) == 2)
            return new FeedSource(DrawTable().Name, IsTable: true);
        var isThere = !state.Trees.IsEmpty && _random.Next(8) < 7;
        return new FeedSource(isThere ? state.Trees.Keys.ElementAt(_random.Next(state.Trees.Count)) : ModelFixedTree.Name, IsTable: false);
    }

    private static bool IsThere(ModelState state, FeedSource source) =>
        source.IsTable ? state.Feeds!.Tables.ContainsKey(source.Name) : state.Has(source.Name);

    private FeedState MoveConsumer(WriteTransaction writing, FeedState feeds)
    {
        var name = DrawFeed();
        var consumer = FeedWorld<TKey>.Consumers[_random.Next(FeedWorld<TKey>.Consumers.Length)];
        if (!feeds.Feeds.TryGetValue(name, out var feed))
        {
            Note("set a position in a feed that is not there");
            ModelWriter.Fails<KeyNotFoundException>(() => writing.SetPosition(name, consumer, ChangePosition.Start));
            return feeds;
        }

        if (_random.Next(6) == 5)
        {
            Note($"remove consumer '{consumer}' of '{name}'");
            if (writing.RemoveConsumer(name, consumer) != feeds.Consumers.ContainsKey((name, consumer)))
                throw new ModelMismatchException($"the removal of consumer '{consumer}' of '{name}' is wrong about having it");
            return feeds with { Consumers = feeds.Consumers.Remove((name, consumer)) };
        }

        var position = DrawPosition(writing, feed, out var log);
        Note($"set '{consumer}' of '{name}' to {position}");
        if (IsLost(log, position))
        {
            ModelWriter.Fails<ChangesLostException>(() => writing.SetPosition(name, consumer, position));
            return feeds;
        }

        writing.SetPosition(name, consumer, position);
        var set = position == ChangePosition.Start ? log.Oldest : position;
        if (!writing.TryGetPosition(name, consumer, out var got) || got.CompareTo(set) != 0)
            throw new ModelMismatchException($"the position of '{consumer}' in '{name}' was set to {position}, and is {got}");
        return feeds with { Consumers = feeds.Consumers.SetItem((name, consumer), set) };
    }

    private ChangePosition DrawPosition(WriteTransaction writing, ModelFeed feed, out FeedLog log)
    {
        log = LogOf(feed);
        if (log.Changes.Count > 0 && _random.Next(3) > 0)
            return DrawPosition(log);
        var newest = writing.GetNewestPosition(feed.Name);
        return newest.TransactionId <= writing.TransactionId && newest >= log.Oldest
            ? newest
            : throw new ModelMismatchException($"the newest position of '{feed.Name}' is {newest}");
    }

    private FeedOptions DrawOptions()
    {
        var maxBytes = _random.Next(4) switch { 0 => 1L << 30, 1 => 0, 2 => 16 << 10, _ => 100_000 };
        return new FeedOptions
        {
            MaxAge = _random.Next(4) switch
            {
                0 => Timeout.InfiniteTimeSpan,
                1 => TimeSpan.Zero,
                2 => TimeSpan.FromMinutes(30),
                _ => TimeSpan.FromHours(3),
            },
            MaxBytes = maxBytes,
            HoldLimitBytes = _random.Next(2) == 1 ? maxBytes + (20 << 10) : 4L << 30,
            MaxValueBytes = _random.Next(4) switch { 0 => FeedOptions.LargestValueBytes, 1 => 0, 2 => 60, _ => 64 << 10 },
        };
    }

    private ModelState ChangeOptions(WriteTransaction writing, ModelState state)
    {
        if (!state.Feeds!.Feeds.TryGetValue(DrawFeed(), out var feed))
            return state;
        Note($"change the options of '{feed.Name}'");
        var options = DrawOptions();
        writing.CreateFeed(feed.Name, options);
        return state.WithFeeds(state.Feeds with { Feeds = state.Feeds.Feeds.SetItem(feed.Name, feed with { Options = options }) });
    }

    // The feed is read to its end before, because it may be deleted for good.
    private FeedState DeleteFeed(WriteTransaction writing, FeedState feeds)
    {
        var name = DrawFeed();
        var isThere = feeds.Feeds.ContainsKey(name);
        if (isThere)
            CatchUp();
        Note($"delete feed '{name}'");
        if (writing.DeleteFeed(name) != isThere || writing.DeleteFeed(name))
            throw new ModelMismatchException($"the deletion of feed '{name}' is wrong about having it");
        return feeds.Delete(name);
    }
}
