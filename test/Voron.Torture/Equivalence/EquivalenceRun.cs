using System.Collections.Immutable;
using System.Globalization;
using System.Text;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Torture.Model;
using Voron.Torture.Recorded;

namespace Voron.Torture.Equivalence;

/// <summary>Runs one stream of operations under one combination of options, and checks the content that each commit has to leave.</summary>
internal sealed class EquivalenceRun(SuiteRun run, EquivalenceSettings settings, Random random) : IDisposable
{
    private const int Transactions = 60;
    private const int MaxUnderWay = 6;
    private const int FlushEvery = 5;
    private const int ReopenEvery = 23;

    // The longest key of the smallest pages.
    private const int LongestKey = 960;
    private const string FixedName = "fixed";
    private const string IdsName = "ids";
    private const string ValueSetsName = "sets";

    private static readonly string[] Names = ["a", "orders", "orders by customer", "ü"];

    private readonly ModelPlace _place = new(inMemory: true);
    private readonly List<Task> _underWay = [];
    private readonly List<(ReadTransaction Reading, Content Content)> _readers = [];
    private StorageEnvironment _environment = null!;
    private Content _content = Content.Empty;
    private int _nextKey;
    private int _nextValue;

    public void Run()
    {
        _environment = _place.Open(settings.ToOptions());
        for (var i = 1; i <= Transactions && run.Choices.HasMore; i++)
        {
            run.Step($"transaction {i}");
            Commit();
            if (_underWay.Count >= MaxUnderWay || settings.Commits == CommitMode.Waiting)
                Check();
            if (settings.Pace is FlushPace.Often or FlushPace.BehindReader && i % FlushEvery == 0)
                _environment.Flush();
            if (settings.Pace == FlushPace.BehindReader && i % (2 * FlushEvery) == 1)
                ChangeReader();
            if (i % ReopenEvery == 0)
                Reopen();
        }
        Reopen();
        ContentCheck.Verify(_environment);
    }

    public void Dispose()
    {
        EndReaders();
        _environment?.Dispose();
        _place.Dispose();
    }

    private void Commit()
    {
        // Drawn in advance: operations of a group commit run elsewhere and later.
        List<Action<WriteTransaction>> changes = [];
        for (var i = random.Next(1, 14); i > 0; i--)
            changes.Add(DrawChange());

        void ChangeAll(WriteTransaction writing)
        {
            foreach (var change in changes)
                change(writing);
        }

        if (settings.Commits == CommitMode.GroupCommit)
        {
            _underWay.Add(_environment.WriteAsync(ChangeAll).AsTask());
            return;
        }
        using var writing = _environment.BeginWrite();
        ChangeAll(writing);
        if (settings.Commits == CommitMode.Pipelined)
            _underWay.Add(writing.CommitAsync().AsTask());
        else
            writing.Commit();
    }

    private Action<WriteTransaction> DrawChange()
    {
        var name = Names[random.Next(Names.Length)];
        var entries = _content.Trees.GetValueOrDefault(name, Content.EmptyTree);
        switch (random.Next(26))
        {
            case 19:
                return DrawRecordedChanges();
            case 20:
                return DrawFixedChanges();
            case 21:
                return DrawIdChanges();
            case 24:
                return DrawValueSetChanges();
            case 25 when _content.Has(ValueSetsName):
                return DrawDeletion(ValueSetsName);
            case 22 when _content.Has(FixedName):
                return DrawDeletion(FixedName);
            case 23 when _content.Has(IdsName):
                return DrawDeletion(IdsName);
            case 0 when _content.Trees.ContainsKey(name):
                return DrawDeletion(name);
            case 1 when entries.Count > 0:
                return DrawRollback(name, entries);
            case 2 or 3 or 4 when entries.Count > 0:
                string[] deleted = [.. entries.Keys.Skip(random.Next(entries.Count)).Take(random.Next(1, 30))];
                _content = _content.With(name, entries.RemoveRange(deleted));
                return writing =>
                {
                    var tree = writing.OpenTree(name);
                    foreach (var key in deleted)
                        BrokenPromiseException.Require(tree.Delete(Bytes(key)), $"'{name}' does not have '{key}'");
                };
            default:
                (string Key, ModelValue Value)[] put = [.. Enumerable.Range(0, random.Next(1, 8)).Select(_ => (DrawKey(entries), DrawValue()))];
                _content = _content.With(name, entries.SetItems(put.Select(entry => KeyValuePair.Create(entry.Key, entry.Value))));
                return writing =>
                {
                    var tree = writing.CreateTree(name);
                    foreach ((var key, var value) in put)
                        tree.Put(Bytes(key), value.ToBytes());
                };
        }
    }

    private Action<WriteTransaction> DrawFixedChanges()
    {
        var steps = new List<(FixedChange Change, FixedContent Before)>();
        var content = _content.Others.TryGetValue(FixedName, out var known) ? (FixedContent)known : FixedContent.New(random);
        for (var i = random.Next(1, 12); i > 0; i--)
        {
            var change = FixedChange.Draw(random, content);
            steps.Add((change, content));
            content = change.ApplyTo(content);
        }

        _content = _content.With(FixedName, content);
        return writing =>
        {
            var tree = writing.CreateFixedTree(FixedName, content.ValueSize);
            foreach (var (change, before) in steps)
                change.ApplyTo(tree, before);
        };
    }

    private Action<WriteTransaction> DrawRecordedChanges()
    {
        var steps = new List<(RecordedChange Change, RecordedData Before)>();
        var content = _content.Others.TryGetValue(RecordedStore.TreeName, out var known) ? (RecordedData)known : RecordedData.Empty;
        for (var i = random.Next(1, 8); i > 0; i--)
        {
            var change = RecordedChange.Draw(random);
            steps.Add((change, content));
            content = change.ApplyTo(content);
        }

        _content = _content.With(RecordedStore.TreeName, content);
        return writing =>
        {
            foreach (var (change, before) in steps)
                change.ApplyTo(writing, before);
        };
    }

    private Action<WriteTransaction> DrawIdChanges()
    {
        var steps = new List<(IdTreeChange Change, IdTreeContent Before)>();
        var content = _content.Others.TryGetValue(IdsName, out var known) ? (IdTreeContent)known : IdTreeContent.Empty;
        for (var i = random.Next(1, 12); i > 0; i--)
        {
            var change = IdTreeChange.Draw(random, content);
            steps.Add((change, content));
            content = change.ApplyTo(content);
        }

        _content = _content.With(IdsName, content);
        return writing =>
        {
            var tree = writing.CreateIdTree(IdsName);
            foreach (var (change, before) in steps)
                change.ApplyTo(tree, before);
        };
    }

    private Action<WriteTransaction> DrawValueSetChanges()
    {
        var steps = new List<(ValueSetChange Change, ValueSetContent Before)>();
        var content = _content.Others.TryGetValue(ValueSetsName, out var known) ? (ValueSetContent)known : ValueSetContent.Empty;
        for (var i = random.Next(1, 12); i > 0; i--)
        {
            var change = ValueSetChange.Draw(random, content);
            steps.Add((change, content));
            content = change.ApplyTo(content);
        }

        _content = _content.With(ValueSetsName, content);
        return writing =>
        {
            var tree = writing.CreateValueSetTree(ValueSetsName);
            foreach (var (change, before) in steps)
                change.ApplyTo(tree, before);
        };
    }

    private Action<WriteTransaction> DrawDeletion(string name)
    {
        _content = _content.Without(name);
        return writing => BrokenPromiseException.Require(writing.DeleteTree(name), $"there is no '{name}' to be deleted");
    }

    /// <summary>Draws changes that a savepoint undoes.</summary>
    private Action<WriteTransaction> DrawRollback(string name, ImmutableSortedDictionary<string, ModelValue> entries)
    {
        var deleted = entries.Keys.ElementAt(random.Next(entries.Count));
        (var key, var value) = (DrawKey(entries), DrawValue());
        return writing =>
        {
            using var savepoint = writing.CreateSavepoint();
            var tree = writing.OpenTree(name);
            tree.Delete(Bytes(deleted));
            tree.Put(Bytes(key), value.ToBytes());
            savepoint.Rollback();
        };
    }

    private string DrawKey(ImmutableSortedDictionary<string, ModelValue> entries)
    {
        if (entries.Count > 0 && random.Next(3) == 0)
            return entries.Keys.ElementAt(random.Next(entries.Count));
        var number = (random.Next(2) == 0 ? _nextKey++ : random.Next(100_000)).ToString("D6", CultureInfo.InvariantCulture);
        return random.Next(12) switch
        {
            0 => number.PadRight(LongestKey, 'x'),
            1 => number.PadLeft(random.Next(10, 300), 'p'),
            _ => number,
        };
    }

    private ModelValue DrawValue()
    {
        var length = random.Next(100) switch
        {
            < 70 => random.Next(300),
            < 85 => random.Next(4_000),
            < 95 => random.Next(20_000),
            < 98 => (16 << 10) + random.Next(-2, 3),
            _ => random.Next(150_000),
        };
        return new ModelValue(_nextValue++, length);
    }

    private void Check()
    {
        Settle();
        using (var reading = _environment.BeginRead())
            ContentCheck.CheckReader(reading, _content);
        var fault = RecordedCheck.FindFault(_environment);
        BrokenPromiseException.Require(fault == null, fault ?? "");
        run.Tally("digests");
    }

    private void Settle()
    {
        foreach (var task in _underWay)
            task.GetAwaiter().GetResult();
        _underWay.Clear();
    }

    private void ChangeReader()
    {
        Settle();
        EndReaders();
        _readers.Add((_environment.BeginRead(), _content));
    }

    private void EndReaders()
    {
        foreach ((var reading, var content) in _readers)
        {
            ContentCheck.CheckReader(reading, content);
            reading.Dispose();
        }
        _readers.Clear();
    }

    private void Reopen()
    {
        Check();
        EndReaders();
        _environment.Dispose();
        _environment = _place.Open(settings.ToOptions());
        Check();
    }

    private static byte[] Bytes(string key) => Encoding.ASCII.GetBytes(key);
}
