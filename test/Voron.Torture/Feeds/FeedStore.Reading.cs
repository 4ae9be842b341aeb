using Voron.Feeds;
using Voron.Torture.Crashes;
using Voron.Torture.Model;

namespace Voron.Torture.Feeds;

/// <content>Reads the feeds.</content>
internal sealed partial class FeedStore<TKey>
{
    private static readonly TimeSpan FollowLimit = TimeSpan.FromMinutes(1);

    /// <summary>Makes the changes that were not read yet to the copies, and compares the copies with the model after each transaction.</summary>
    public void CatchUp()
    {
        using var reading = Environment.BeginRead();
        foreach (var feed in Feeds.Feeds.Values)
            CatchUp(reading, LogOf(feed));
    }

    private void CatchUp(ReadTransaction reading, FeedLog log)
    {
        Note($"read on '{log.Feed.Name}' behind {log.Position}");
        var batch = DrawBatch();
        var begun = new Queue<BegunRecording>();
        var transactionId = 0L;
        while (reading.ReadChanges(log.Feed.Name, log.Position, batch))
        {
            foreach (var change in batch)
            {
                if (change.Position <= log.Position)
                    throw new ModelMismatchException($"{change} comes behind {log.Position}");
                if (change.TransactionId != transactionId)
                {
                    Finish(log, transactionId, begun);
                    transactionId = change.TransactionId;
                    Begin(log, change, begun);
                }

                if (change.Time is { } time ? time.Ticks != _versions[transactionId].Ticks : transactionId != log.Position.TransactionId)
                    throw new ModelMismatchException($"{change} was made at {change.Time}");
                log.Copy.Apply(change, begun, _versions[transactionId].State.Feeds!.Feeds[log.Feed.Name].Options.MaxValueBytes);
                log.Changes.Add(KnownChange.Of(batch, change));
                log.Position = change.Position;
                _world.Run.Tally(change.Operation.ToString());
            }

            if (batch.Position != log.Position)
                throw new ModelMismatchException($"a batch continues behind {batch.Position}, and its last change is {log.Position}");
        }

        Finish(log, transactionId, begun);
        log.Position = batch.Position;
        CheckUnchanged(log, NewestId + 1);
        log.ThroughId = NewestId;
        log.Through = Newest;
        log.Copy.Compare(Newest, all: true);
    }

    private void Begin(FeedLog log, Change change, Queue<BegunRecording> begun)
    {
        CheckUnchanged(log, change.TransactionId);
        if (!_versions.TryGetValue(change.TransactionId, out var version))
            throw new ModelMismatchException($"{change}: its transaction has not changed anything");
        foreach (var recording in version.State.Feeds!.Begun)
        {
            if (recording.Feed == log.Feed.Number && recording.TransactionId == change.TransactionId)
                begun.Enqueue(recording);
        }
    }

    private void Finish(FeedLog log, long transactionId, Queue<BegunRecording> begun)
    {
        if (transactionId == 0)
            return;
        if (begun.TryDequeue(out var missing))
            throw new ModelMismatchException($"the feed '{log.Feed.Name}' lacks the begin of {missing.Source} in transaction {transactionId}");
        log.ThroughId = transactionId;
        log.Through = _versions[transactionId].State;
        log.Copy.Compare(log.Through, all: false);
    }

    // Transactions of which the feed has no change have not changed what it records.
    private void CheckUnchanged(FeedLog log, long before)
    {
        foreach (var (id, version) in _versions)
        {
            if (id <= log.ThroughId || id >= before)
                continue;
            var recorded = version.State.Feeds!.SourcesOf(log.Feed.Name).ToHashSet();
            var isSame = log.Through == null ? recorded.Count == 0 : recorded.SetEquals(log.Through.Feeds!.SourcesOf(log.Feed.Name))
                && recorded.All(source => source.IsTable || log.Through.Trees[source.Name] == version.State.Trees[source.Name]);
            if (!isSame)
                throw new ModelMismatchException($"the feed '{log.Feed.Name}' has nothing of transaction {id}, which has changed what it records");
        }
    }

    private ChangeBatch DrawBatch() => new(_random.Next(5) switch { 0 => 1, 1 => 200, 2 => 4096, 3 => 40_000, _ => ChangeBatch.DefaultMaxBytes });

    // Reads again, in other batches, what was read before.
    private void CheckReads()
    {
        CatchUp();
        using var reading = Environment.BeginRead();
        CheckConsumers(reading);
        foreach (var feed in Feeds.Feeds.Values)
        {
            var log = LogOf(feed);
            for (var i = _random.Next(3); i >= 0; i--)
                CheckRead(reading, log, DrawPosition(log), DrawBatch());
            if (_stale.Count > 0 && _random.Next(3) == 2)
                ModelWriter.Fails<ChangesLostException>(() => reading.ReadChanges(feed.Name, _stale[_random.Next(_stale.Count)], new ChangeBatch()));
        }
    }

    private void CheckRead(ReadTransaction reading, FeedLog log, ChangePosition from, ChangeBatch batch)
    {
        var name = log.Feed.Name;
        Note($"read '{name}' behind {from} in batches of {batch.MaxBytes}");
        if (IsLost(log, from))
        {
            ModelWriter.Fails<ChangesLostException>(() => reading.ReadChanges(name, from, batch));
            return;
        }

        var at = log.After(from);
        while (reading.ReadChanges(name, from, batch))
        {
            at = log.Check(batch, at);
            from = batch.Position;
        }

        if (at != log.Changes.Count)
            throw new ModelMismatchException($"the feed '{name}' ends at {from}, before {log.Changes[at]}");
    }

    private static bool IsLost(FeedLog log, ChangePosition position) =>
        position == ChangePosition.Start ? log.Oldest.Stamp != 0 && log.Oldest.Ordinal != 0 : position < log.Oldest;

    private ChangePosition DrawPosition(FeedLog log) => log.Changes.Count == 0 || _random.Next(5) == 4
        ? ChangePosition.Start
        : log.Changes[_random.Next(3) == 2 ? log.Changes.Count - 1 : _random.Next(log.Changes.Count)].Position;

    private void CheckConsumers(ReadTransaction reading)
    {
        foreach (var feed in Feeds.Feeds.Values)
        {
            foreach (var consumer in FeedWorld<TKey>.Consumers)
            {
                var isThere = reading.TryGetPosition(feed.Name, consumer, out var position);
                if (isThere != Feeds.Consumers.TryGetValue((feed.Name, consumer), out var expected) || position.CompareTo(expected) != 0)
                    throw new ModelMismatchException($"the consumer '{consumer}' of '{feed.Name}' is at {position} instead of {expected}");
                if (isThere)
                    CheckRead(reading, LogOf(feed), position, DrawBatch());
            }
        }
    }

    // What the environment says of its feeds.
    private void CheckFeeds()
    {
        Note("list feeds");
        using var reading = Environment.BeginRead();
        CheckConsumers(reading);
        var infos = reading.GetFeeds();
        if (!infos.Select(info => info.Name).SequenceEqual(Feeds.Feeds.Keys))
            throw new ModelMismatchException($"the feeds are {string.Join(", ", infos.Select(info => info.Name))}");
        foreach (var info in infos)
        {
            var feed = Feeds.Feeds[info.Name];
            var log = LogOf(feed);
            var left = log.Changes.Count - log.After(log.Oldest);
            var consumers = Feeds.Consumers.Count(consumer => consumer.Key.Feed == feed.Name);
            if (info.Options != feed.Options || info.Changes != left || info.Oldest.CompareTo(log.Oldest) != 0 || info.Consumers.Count != consumers
                || !info.Sources.ToHashSet().SetEquals(Feeds.SourcesOf(feed.Name)))
                throw new ModelMismatchException($"the feed {feed} with {left} changes from {log.Oldest} on is {info}");
            var newest = log.Changes.Count > 0 ? log.Changes[^1].Position : log.Oldest;
            if (info.Newest.CompareTo(newest) != 0 || reading.GetNewestPosition(feed.Name) != info.Newest)
                throw new ModelMismatchException($"the last change of '{feed.Name}' is at {info.Newest} instead of {newest}");
        }
    }

    // A consumer waits while transactions are made, and gets all of their changes.
    private void Follow()
    {
        CatchUp();
        if (Feeds.Feeds.Count == 0)
            return;
        var feed = Feeds.Feeds.Values.ElementAt(_random.Next(Feeds.Feeds.Count));
        var log = LogOf(feed);
        Note($"follow '{feed.Name}'");
        var from = log.Position;
        using var stop = new CancellationTokenSource();
        var changes = Environment.ReadChangesAsync(feed.Name, from, DrawBatch().MaxBytes, stop.Token).GetAsyncEnumerator(stop.Token);
        var next = changes.MoveNextAsync().AsTask();
        if (next.IsCompleted)
            throw new ModelMismatchException($"the feed '{feed.Name}' has a change behind {from}, its last one");
        if (_random.Next(8) == 7)
        {
            Note("reopen under the consumer");
            Close();
            ModelWriter.Fails<ObjectDisposedException>(() => next.GetAwaiter().GetResult());
            Open();
            changes.DisposeAsync().AsTask().GetAwaiter().GetResult();
            return;
        }

        var at = log.Changes.Count;
        for (var i = _random.Next(1, 4); i > 0; i--)
            Write();
        if (Feeds.Feeds.TryGetValue(feed.Name, out var now) && now.Number == feed.Number)
        {
            CatchUp();
            while (at < log.Changes.Count)
            {
                if (!next.Wait(FollowLimit) || !next.Result)
                    throw new CrashViolationException($"a consumer of '{feed.Name}' waits for {log.Changes[at]} for ever");
                at = log.Check(changes.Current, at);
                next = changes.MoveNextAsync().AsTask();
            }

            stop.Cancel();
            ModelWriter.Fails<OperationCanceledException>(() => next.GetAwaiter().GetResult());
        }
        else
        {
            stop.Cancel();
            End(next);
        }

        changes.DisposeAsync().AsTask().GetAwaiter().GetResult();
    }

    // The feed was deleted under its consumer.
    private static void End(Task next)
    {
        try
        {
            next.GetAwaiter().GetResult();
        }
        catch (Exception e) when (e is OperationCanceledException or ChangesLostException or KeyNotFoundException)
        {
        }
    }
}
