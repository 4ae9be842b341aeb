using Voron.Tables;
using Voron.Torture.Model;
using Voron.Torture.Schedules;
using Voron.Torture.Tables;

namespace Voron.Torture.Feeds;

/// <content>Changes trees and tables, and drops them.</content>
internal sealed partial class FeedStore<TKey>
{
    private void Write()
    {
        Stage();
        using var writing = Environment.BeginWrite();
        var (id, before) = (writing.TransactionId, Feeds);
        _world.History.Note($"begin {id}");
        var writer = WriterOf(writing, _random.Next(16) == 15 ? ChangeOptions(writing, Newest) : Newest, isAlone: true);
        writer.Run(_random.Next(12) == 11 ? _random.Next(120) : _random.Next(1, 20), simple: false);
        if (writer.IsBroken || _random.Next(8) == 7)
        {
            Note("roll back");
            return;
        }

        if (!TryCommit(writing))
            return;
        Add(id, writer.State);

        // Positions of feeds that are gone are refused later.
        var numbers = Feeds.Feeds.Values.Select(feed => feed.Number).ToHashSet();
        _stale.AddRange(before.Feeds.Values.Where(feed => !numbers.Contains(feed.Number)).Select(feed => LogOf(feed).Position));
    }

    // A value that waits outside of transactions until one of them puts it.
    private void Stage()
    {
        if (_random.Next(12) < 11)
            return;
        _staged?.Dispose();
        _stagedEntry = Pad.Draw(_random, [], _world.Settings.Options.LargeValueBytes + _random.Next(20_000));
        Note($"stage {_stagedEntry.Length} bytes");
        using var stream = new MemoryStream(Pad.Bytes, _stagedEntry.Offset, _stagedEntry.Length);
        _staged = Environment.StageAsync(stream).AsTask().GetAwaiter().GetResult();
    }

    // A put that was rolled back leaves the value ready for another one.
    private ModelState PutStaged(WriteTransaction writing, ModelState state)
    {
        if (_staged is not { State: StagedValueState.Ready } staged || state.Trees.IsEmpty)
            return state;
        var name = state.Trees.Keys.ElementAt(_random.Next(state.Trees.Count));
        var entries = state.Trees[name];
        var key = entries.Count > 0 && _random.Next(2) == 1 ? entries[_random.Next(entries.Count)].Key : [(byte)_random.Next(256), 1, 2];
        _world.History.Add("put staged", name, key, staged.Length);
        writing.OpenTree(name).Put(key, staged);
        return state.Put(name, _stagedEntry with { Key = key });
    }

    private bool TryCommit(WriteTransaction writing)
    {
        Note("commit");
        try
        {
            writing.Commit();
            return true;
        }
        catch (StorageFullException) when (_world.Settings.HasSmallTransactions)
        {
            _world.History.Note("  (too large)");
            return false;
        }
    }

    private ModelWriter WriterOf(WriteTransaction writing, ModelState state, bool isAlone) =>
        new(_world.Settings, _random, _world.History, writing, state) { Beside = now => ChangeBeside(writing, now, isAlone) };

    // Operations that are merged into one transaction or into several: those that fail leave nothing.
    private void RunGroupCommit()
    {
        // Operations that fit alone may be too large together; it is then unpredictable which of them fail.
        if (_world.Settings.HasSmallTransactions)
            return;
        _world.History.Note("group commit");
        var state = Newest;
        var made = new SortedList<long, ModelState>();
        var operations = new (bool Fails, int Calls)[_random.Next(1, 8)];
        for (var i = 0; i < operations.Length; i++)
            operations[i] = (_random.Next(4) == 3, _random.Next(1, _random.Next(2) == 0 ? 3 : 16));

        // The operations run one after the other, and draw from the tape of the run, which this thread leaves alone until they have ended.
        var tasks = operations.Select(operation => Environment.WriteAsync(writing =>
        {
            var writer = WriterOf(writing, state, isAlone: false);
            writer.Run(operation.Calls, simple: false);
            if (operation.Fails)
            {
                _world.History.Note("  (fails)");
                throw new PlannedException();
            }

            made[writing.TransactionId] = state = writer.State;
        }).AsTask()).ToList();
        foreach (var task in tasks)
        {
            try
            {
                task.GetAwaiter().GetResult();
            }
            catch (PlannedException)
            {
            }
        }

        foreach (var (id, after) in made)
            Add(id, after);
    }

    private ModelState ChangeBeside(WriteTransaction writing, ModelState state, bool isAlone)
    {
        if (isAlone && _random.Next(12) == 11)
            return PutStaged(writing, state);
        var feeds = state.Feeds!;
        feeds = _random.Next(40) switch
        {
            < 18 => WriteTable(writing, feeds),
            < 29 => Record(writing, state),
            < 31 => StopRecording(writing, state),
            < 38 => MoveConsumer(writing, feeds),
            38 when isAlone => DeleteFeed(writing, feeds),
            _ => DeleteTable(writing, feeds),
        };
        return state.WithFeeds(feeds);
    }

    private FeedState WriteTable(WriteTransaction writing, FeedState feeds)
    {
        var table = DrawTable();
        table.Note($"in {writing.TransactionId}, table '{table.Name}':");
        var content = feeds.Tables.GetValueOrDefault(table.Name)?.Copy() ?? new TableContent();
        var writer = new TableWriter<TKey>(table, writing.CreateTable(table.Definition), content);
        writer.Run(writing, _random.Next(1, 8));
        return feeds.WithTable(table.Name, writer.Content);
    }

    private FeedState DeleteTable(WriteTransaction writing, FeedState feeds)
    {
        var table = DrawTable();
        table.Add($"delete table '{table.Name}'");
        if (writing.DeleteTable(table.Name) != feeds.Tables.ContainsKey(table.Name))
            throw new ModelMismatchException($"the deletion of table '{table.Name}' is wrong about having it");
        return feeds.DeleteTable(table.Name);
    }

    private TableSetting<TKey> DrawTable() => _world.Tables[_random.Next(_world.Tables.Count)];

    private void Drop()
    {
        var id = NewestId + 1;
        bool isThere, isDropped;
        ModelState state;
        if (_random.Next(3) == 2)
        {
            var table = DrawTable();
            table.Add($"drop table '{table.Name}'");
            isThere = Feeds.Tables.ContainsKey(table.Name);
            state = Newest.WithFeeds(Feeds.DeleteTable(table.Name));
            isDropped = Environment.DropTableAsync(table.Name).AsTask().GetAwaiter().GetResult();
        }
        else
        {
            var name = Newest.Trees.IsEmpty ? "none" : Newest.Trees.Keys.ElementAt(_random.Next(Newest.Trees.Count));
            _world.History.Add("drop tree", name);
            isThere = Newest.Has(name);
            state = Newest.Drop(name);
            isDropped = Environment.DropTreeAsync(name).AsTask().GetAwaiter().GetResult();
        }

        if (isThere != isDropped)
            throw new ModelMismatchException($"a drop of what is {(isThere ? "" : "not ")}there says {isDropped}");
        if (isThere)
            Add(id, state);
    }
}
