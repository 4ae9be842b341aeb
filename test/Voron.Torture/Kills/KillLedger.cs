using System.Buffers.Binary;
using System.Diagnostics;
using Voron.KillTarget;
using Voron.Simulation.Harness;
using Voron.Torture.Crashes;
using Voron.Torture.Recorded;

namespace Voron.Torture.Kills;

/// <summary>The content that the environment of killed processes must have.</summary>
internal sealed class KillLedger
{
    /// <summary>More than freeing a tree takes on a busy machine.</summary>
    private static readonly TimeSpan DropLimit = HangLimit.OfSeconds(20);

    private readonly Dictionary<long, (long Number, int Length)> _items = [];
    private readonly SortedDictionary<long, long> _fixed = [];
    private readonly SortedDictionary<(byte Key, long Id), byte> _ids = [];
    private readonly SortedSet<(byte Key, int Value)> _sets = [];

    // The entries of the recorded tree, and the rows of both tables.
    private readonly SortedDictionary<int, int> _recorded = [];
    private long _acknowledged;
    private long _newest;
    private long _at;

    /// <summary>Records that commits up to the first must be present, and up to the second may be.</summary>
    public void Acknowledge(long least, long most)
    {
        _acknowledged = Math.Max(_acknowledged, least);
        _newest = Math.Max(_newest, most);
    }

    public void Compare(SuiteRun run, string directory, int kill)
    {
        using var environment = StorageEnvironment.Open(directory, KillWorkload.Options());
        var isDropping = CountDropped(environment) > 0;
        run.Tally("openings that continue with a drop", isDropping ? 1 : 0);
        run.Tally(environment.Recovery.ReplayedRecords > 0 ? "openings that replay" : "openings that find everything in the data file");
        var newest = KillWorkload.Newest(environment);

        // Of two processes that were killed one after the other, each may have had commits under way.
        BrokenPromiseException.Require(
            newest >= _acknowledged && newest <= _newest + (2 * KillWorkload.MaxUnderWay),
            $"Kill {kill}: commit {_acknowledged} was acknowledged, and {newest} is the newest that was found.");
        run.Tally("commits", newest - _at);
        run.Tally("commits found though not acknowledged", newest - _acknowledged);
        _acknowledged = newest;
        _newest = newest;
        while (_at < newest)
            Follow(++_at);
        CompareItems(environment, kill);
        CompareFixed(environment, kill);
        CompareIds(environment, kill);
        CompareSets(environment, kill);
        CompareRecorded(environment, kill);
        var report = environment.Verify();
        BrokenPromiseException.Require(report.IsSound, $"Kill {kill}: {report}");
        if (isDropping)
            AwaitDrop(environment, kill);
    }

    // The opening continues with what a killed drop has left.
    private static void AwaitDrop(StorageEnvironment environment, int kill)
    {
        for (var begun = Stopwatch.GetTimestamp(); CountDropped(environment) > 0; Thread.Sleep(1))
        {
            BrokenPromiseException.Require(
                Stopwatch.GetElapsedTime(begun) < DropLimit, $"Kill {kill}: a dropped tree keeps its pages after the environment was opened.");
        }
        try
        {
            ContentCheck.Verify(environment);
        }
        catch (CrashViolationException e)
        {
            throw new BrokenPromiseException($"Kill {kill}: {e.Message}", e);
        }
    }

    private static int CountDropped(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        return reading.GetDroppedTrees().Count;
    }

    private void Follow(long number)
    {
        foreach ((var key, var length) in KillWorkload.Changes(number))
        {
            if (length < 0)
                _items.Remove(key);
            else
                _items[key] = (number, length);
        }

        foreach (var (key, id, isAdded) in KillWorkload.IdChanges(number))
        {
            if (isAdded)
                _ids[(key, id)] = (byte)number;
            else
                _ids.Remove((key, id));
        }

        foreach (var (key, value, isAdded) in KillWorkload.SetChanges(number))
        {
            if (isAdded)
                _sets.Add((key, value));
            else
                _sets.Remove((key, value));
        }

        foreach (var (key, isPut) in KillWorkload.RecordedChanges(number))
        {
            if (isPut)
                _recorded[key] = (int)number;
            else
                _recorded.Remove(key);
        }

        foreach (var (first, last, isPut) in KillWorkload.FixedChanges(number))
        {
            for (var key = first; key <= last; key++)
            {
                if (isPut)
                    _fixed[key] = number;
                else
                    _fixed.Remove(key);
            }
        }
    }

    private void CompareIds(StorageEnvironment environment, int kill)
    {
        using var reading = environment.BeginRead();
        if (!reading.TryOpenIdTree(KillWorkload.IdsName, out var tree))
        {
            BrokenPromiseException.Require(_ids.Count == 0, $"Kill {kill}: the id tree is gone.");
            return;
        }

        foreach (var set in _ids.GroupBy(entry => entry.Key.Key))
        {
            using var ids = tree.OpenIds([set.Key]);
            foreach (var ((_, id), payload) in set)
            {
                var isRight = ids.MoveNext() && ids.Id == id && ids.Payload == payload;
                BrokenPromiseException.Require(isRight, $"Kill {kill}: set {set.Key} does not hold id {id} with the payload {payload}.");
            }
        }

        BrokenPromiseException.Require(
            tree.ValueCount == _ids.Count, $"Kill {kill}: the id tree counts {tree.ValueCount} ids, not {_ids.Count}.");
    }

    private void CompareSets(StorageEnvironment environment, int kill)
    {
        using var reading = environment.BeginRead();
        if (!reading.TryOpenValueSetTree(KillWorkload.SetsName, out var tree))
        {
            BrokenPromiseException.Require(_sets.Count == 0, $"Kill {kill}: the tree of value sets is gone.");
            return;
        }

        foreach (var set in _sets.GroupBy(entry => entry.Key))
        {
            using var values = tree.OpenValues([set.Key]);
            foreach (var (_, value) in set)
            {
                var isRight = values.MoveNext() && BinaryPrimitives.ReadInt32BigEndian(values.Value) == value;
                BrokenPromiseException.Require(isRight, $"Kill {kill}: set {set.Key} does not hold the value {value}.");
            }

            BrokenPromiseException.Require(!values.MoveNext(), $"Kill {kill}: set {set.Key} holds more values than {set.Count()}.");
        }

        BrokenPromiseException.Require(
            tree.ValueCount == _sets.Count, $"Kill {kill}: the tree of value sets counts {tree.ValueCount} values, not {_sets.Count}.");
    }

    // The feed may be cut beside this: its changes lead to the same content all the same.
    private void CompareRecorded(StorageEnvironment environment, int kill)
    {
        using var reading = environment.BeginRead();
        if (!reading.TryOpenTree(RecordedStore.TreeName, out var tree))
        {
            BrokenPromiseException.Require(_recorded.Count == 0, $"Kill {kill}: the recorded tree is gone.");
            return;
        }

        BrokenPromiseException.Require(
            RecordedStore.ReadRows(reading).SequenceEqual(_recorded), $"Kill {kill}: the tables do not have the rows that the commits have left.");
        BrokenPromiseException.Require(tree.Count == _recorded.Count, $"Kill {kill}: the recorded tree counts {tree.Count} entries.");
        foreach (var (key, number) in _recorded)
        {
            var isRight = tree.TryGet(RecordedStore.KeyOf(key), out var value) && RecordedRow.NumberOf(value) == number;
            BrokenPromiseException.Require(isRight, $"Kill {kill}: entry {key} does not hold what commit {number} put there.");
        }

        var fault = RecordedCheck.FindFault(environment);
        BrokenPromiseException.Require(fault == null, $"Kill {kill}: {fault}");
    }

    private void CompareFixed(StorageEnvironment environment, int kill)
    {
        using var reading = environment.BeginRead();
        if (!reading.TryOpenFixedTree(KillWorkload.FixedName, out var tree))
        {
            BrokenPromiseException.Require(_fixed.Count == 0, $"Kill {kill}: the fixed-size tree is gone.");
            return;
        }

        using var cursor = tree.OpenCursor();
        foreach (var (key, number) in _fixed)
        {
            var isRight = cursor.MoveNext() && cursor.Key == key
                && cursor.Value.SequenceEqual(KillWorkload.Value(number, key, KillWorkload.FixedValueBytes));
            BrokenPromiseException.Require(isRight, $"Kill {kill}: key {key} of the fixed-size tree does not hold what commit {number} put there.");
        }

        BrokenPromiseException.Require(
            !cursor.MoveNext() && tree.Count == _fixed.Count, $"Kill {kill}: the fixed-size tree counts {tree.Count} entries, not {_fixed.Count}.");
    }

    private void CompareItems(StorageEnvironment environment, int kill)
    {
        using var reading = environment.BeginRead();
        if (!reading.TryOpenTree(KillWorkload.TreeName, out var tree))
        {
            BrokenPromiseException.Require(_items.Count == 0, $"Kill {kill}: the tree is gone.");
            return;
        }
        BrokenPromiseException.Require(tree.Count == _items.Count, $"Kill {kill}: {tree.Count} items are found, and {_items.Count} should be.");
        foreach (var entry in tree.GetEntries())
        {
            var key = BinaryPrimitives.ReadInt64BigEndian(entry.Key);
            var isRight = _items.TryGetValue(key, out var item)
                && entry.Value.SequenceEqual(KillWorkload.Value(item.Number, key, item.Length));
            BrokenPromiseException.Require(isRight, $"Kill {kill}: key {key} does not hold what commit {item.Number} put there.");
        }
    }
}
