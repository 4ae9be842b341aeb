using Voron.Tables;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <content>Rows that expire: the feed has their deletion when it happens.</content>
internal sealed partial class FeedStore<TKey>
{
    private const int LongestPause = 4_000;

    private static readonly TableIndex Expiry = TableIndex.Of(TableIndex.Expiry, 1);

    private void StepInTime()
    {
        if (_random.Next(2) == 1)
            _world.Clock.Advance(TimeSpan.FromMilliseconds(_random.Next(1, LongestPause)));
        Settle();
        if (_random.Next(16) == 15 && !_world.Settings.HasSmallTransactions)
            DeleteExpired();
    }

    // What the newest state has now. The transaction has its time all the same.
    private void Settle()
    {
        if (!_world.Expires)
            return;
        var feeds = Feeds;
        foreach (var (name, content) in Feeds.Tables)
        {
            var now = content.At(Expiry, _world.Clock.Milliseconds);
            if (now != content)
                feeds = feeds.WithTable(name, now);
        }

        var id = _versions.Keys[^1];
        _versions[id] = _versions[id] with { State = Newest.WithFeeds(feeds) };
    }

    private void DeleteExpired()
    {
        var table = DrawTable();
        if (!Feeds.Tables.TryGetValue(table.Name, out var content))
            return;
        table.Add($"delete the expired rows of '{table.Name}'");
        var before = NewestId;
        var deleted = Environment.DeleteExpiredAsync(table.Definition).AsTask().GetAwaiter().GetResult();
        _world.Run.Tally("expired rows", deleted);
        var left = content.Copy();
        left.CheckCount(left.Count);
        var state = Newest.WithFeeds(Feeds.WithTable(table.Name, left));
        for (var id = before + 1; id <= NewestId; id++)
            Add(id, state);
        using var reading = Environment.BeginRead();
        if (reading.OpenTable(table.Definition).Count != left.Count)
            throw new ModelMismatchException($"the table has {reading.OpenTable(table.Definition).Count} rows instead of {left.Count}");
    }
}
