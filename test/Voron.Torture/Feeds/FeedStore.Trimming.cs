using Voron.Feeds;
using Voron.Torture.Model;

namespace Voron.Torture.Feeds;

/// <content>Cuts the feeds.</content>
internal sealed partial class FeedStore<TKey>
{
    private void Trim()
    {
        CatchUp();
        Note("trim the feeds");
        var before = FeedInfos();
        var deleted = Environment.TrimFeedsAsync().AsTask().GetAwaiter().GetResult();
        OnDurable?.Invoke(NewestId);
        var after = FeedInfos();
        var cut = 0L;
        for (var i = 0; i < before.Count; i++)
        {
            var log = LogOf(Feeds.Feeds[before[i].Name]);
            CheckCut(log, before[i], after[i]);
            cut += log.After(after[i].Oldest) - log.After(before[i].Oldest);
            log.Oldest = after[i].Oldest;
        }

        if (deleted != cut)
            throw new ModelMismatchException($"{deleted} changes were deleted, and {cut} are gone");
        _world.Run.Tally("changes cut off", cut);
        CheckFeeds();
    }

    private IReadOnlyList<FeedInfo> FeedInfos()
    {
        using var reading = Environment.BeginRead();
        return reading.GetFeeds();
    }

    private void CheckCut(FeedLog log, FeedInfo before, FeedInfo after)
    {
        var name = before.Name;
        if (after.Oldest < before.Oldest || !IsEnd(log, after.Oldest))
            throw new ModelMismatchException($"the feed '{name}' was cut at {after.Oldest}");
        var oldest = before.Options.MaxAge == Timeout.InfiniteTimeSpan ? 0 : _world.Clock.Ticks - before.Options.MaxAge.Ticks;
        var isHeld = before.Bytes <= before.Options.HoldLimitBytes;
        var behind = before.Consumers.Where(consumer => consumer.Position < after.Oldest && consumer.Position >= before.Oldest).ToList();
        if (isHeld && behind.Count > 0)
            throw new ModelMismatchException($"the feed '{name}' was cut at {after.Oldest}, past its consumer {behind[0]}");
        _world.Run.Tally("consumers cut off", behind.Count);
        for (var i = log.After(before.Oldest); before.Bytes <= before.Options.MaxBytes && i < log.After(after.Oldest); i++)
        {
            if (_versions[log.Changes[i].Position.TransactionId].Ticks >= oldest)
                throw new ModelMismatchException($"the feed '{name}' was cut at {after.Oldest}, behind {log.Changes[i]}, which is not old");
        }

        CheckLeft(log, before, after, oldest);
    }

    // What may go is gone, unless a consumer holds it.
    private void CheckLeft(FeedLog log, FeedInfo before, FeedInfo after, long oldest)
    {
        var first = log.After(after.Oldest);
        if (first == log.Changes.Count)
            return;
        var id = log.Changes[first].Position.TransactionId;
        var end = log.Changes[log.After(new ChangePosition(id, uint.MaxValue, 0)) - 1].Position;
        var isHeld = after.Bytes <= after.Options.HoldLimitBytes && after.Consumers.Any(consumer => consumer.Position < end);
        if (!isHeld && (_versions[id].Ticks < oldest || after.Bytes > after.Options.MaxBytes))
            throw new ModelMismatchException($"the feed '{before.Name}' of {after.Bytes} bytes was cut, and still has {log.Changes[first]}");
    }

    private static bool IsEnd(FeedLog log, ChangePosition position)
    {
        if (position.CompareTo(new ChangePosition(log.Feed.CreatedId, 0, 0)) == 0)
            return true;
        var next = log.After(position);
        return next > 0 && log.Changes[next - 1].Position.CompareTo(position) == 0
            && (next == log.Changes.Count || log.Changes[next].Position.TransactionId != position.TransactionId);
    }
}
