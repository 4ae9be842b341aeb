using Voron.Feeds;
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
        // The positions of a feed that goes are kept, to be refused later.
        var deletes = Feeds.Feeds.Count > 0 && _random.Next(60) == 59;
        if (deletes)
            CatchUp();
        using var writing = Environment.BeginWrite();
        var id = writing.TransactionId;
        _world.History.Note($"begin {id}");
        var state = Newest;
        var deleted = deletes ? Feeds.Feeds.Values.ElementAt(_random.Next(Feeds.Feeds.Count)) : null;
        if (deleted != null)
            state = DeleteFeed(writing, state, deleted);
        else if (_random.Next(16) == 15)
            state = ChangeOptions(writing, state);
        var writer = WriterOf(writing, state);
        writer.Run(_random.Next(12) == 11 ? _random.Next(120) : _random.Next(1, 20), simple: false);
        if (writer.IsBroken || _random.Next(8) == 7)
        {
            Note("roll back");
            return;
        }

        if (!TryCommit(writing))
            return;
        Add(id, writer.State);
        if (deleted != null)
            _stale.Add(LogOf(deleted).Position);
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

    private ModelWriter WriterOf(WriteTransaction writing, ModelState state) =>
        new(_world.Settings, _random, _world.History, writing, state) { Beside = now => ChangeBeside(writing, now) };

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
            var writer = WriterOf(writing, state);
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

    private ModelState ChangeBeside(WriteTransaction writing, ModelState state)
    {
        var feeds = state.Feeds!;
        feeds = _random.Next(40) switch
        {
            < 18 => WriteTable(writing, feeds),
            < 29 => Record(writing, state),
            < 31 => StopRecording(writing, state),
            < 39 => MoveConsumer(writing, feeds),
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
