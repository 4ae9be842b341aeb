using System.Text;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

using Pairs = System.Collections.Generic.SortedSet<(string Key, string Value)>;

namespace Voron.Tests.Api;

/// <summary>A tree of value sets does what a sorted set of pairs does: through savepoints, rollbacks, commits, flushes and power cuts.</summary>
public sealed class ValueSetModelTests
{
    private const string Name = "sets";

    // Sets of these sizes, with values of these lengths at most, cross all borders between the forms.
    private static readonly (string Key, int Values, int Bytes)[] Kinds =
        [("a", 2, 900), ("b", 12, 40), ("c", 120, 20), ("d", 900, 6), ("e", 6, 952)];

    private static readonly Comparer<(string Key, string Value)> Order = Comparer<(string Key, string Value)>.Create(
        (one, other) => string.CompareOrdinal(one.Key, other.Key) is var order && order != 0 ? order : string.CompareOrdinal(one.Value, other.Value));

    [Fact]
    public void Transactions_with_savepoints_leave_what_the_model_has()
    {
        var random = new Random(TestSeed.Choose());
        var disk = new SimulatedDisk();
        var model = new Pairs(Order);
        for (var opening = 0; opening < 4; opening++)
        {
            using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
            for (var i = 0; i < 25; i++)
            {
                var changed = new Pairs(model, Order);
                using (var writing = environment.BeginWrite())
                {
                    Change(writing, changed, random, depth: 0);
                    Check(writing.OpenValueSetTree(Name), changed);
                    if (random.Next(3) == 0)
                        continue;
                    writing.Commit();
                }

                model = changed;
                if (random.Next(4) == 0)
                    environment.Flush();
            }

            environment.Verify().Problems.Should().BeEmpty();
            using var reading = environment.BeginRead();
            if (reading.TryOpenValueSetTree(Name, out var tree))
                Check(tree, model);
        }
    }

    [Fact]
    public void After_a_power_cut_the_sets_are_those_of_a_commit()
    {
        var random = new Random(TestSeed.Choose());
        var disk = new SimulatedDisk();
        var states = new List<(Pairs Model, int DurableAt)>();
        var model = new Pairs(Order);
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i < 20; i++)
        {
            using (var writing = environment.BeginWrite())
            {
                Change(writing, model, random, depth: 0);
                writing.Commit();
            }

            states.Add((new Pairs(model, Order), disk.TraceCount));
            if (i % 6 == 5)
                environment.Flush();
        }

        var images = new CrashImages(disk);
        for (var cut = states[0].DurableAt; cut <= disk.TraceCount; cut += 2)
        {
            using var again = StorageEnvironment.Open(images.Build(cut, random), FaultTestKit.Options());
            again.Verify().Problems.Should().BeEmpty();
            using var reading = again.BeginRead();
            var acknowledged = states.FindLastIndex(state => state.DurableAt <= cut);
            var index = (int)reading.TransactionId - 1;
            index.Should().BeGreaterThanOrEqualTo(acknowledged, $"a commit before call {cut} was acknowledged");
            Check(reading.OpenValueSetTree(Name), states[index].Model);
        }
    }

    [Fact]
    public void Cursors_keep_their_places_while_the_sets_change()
    {
        var random = new Random(TestSeed.Choose());
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateValueSetTree(Name);
        var model = new Pairs(Order);
        using var cursor = tree.OpenCursor();
        using var bound = tree.OpenValues("c"u8);
        (string Key, string Value)? place = null;
        (string Key, string Value)? boundPlace = null;
        var isForward = true;
        for (var i = 0; i < 30_000; i++)
        {
            switch (random.Next(9))
            {
                case 0 or 1:
                    ChangeOne(tree, model, random, place ?? boundPlace);
                    break;
                case 2 when random.Next(300) == 0:
                    var key = Kinds[random.Next(Kinds.Length)].Key;
                    tree.RemoveAll(Bytes(key)).Should().Be(model.RemoveWhere(pair => pair.Key == key));
                    break;
                case 2:
                    var sought = Pair(random);
                    isForward = random.Next(2) == 0;
                    var (soughtKey, soughtValue) = (Bytes(sought.Key), Bytes(sought.Value));
                    var found = isForward ? cursor.Seek(soughtKey, soughtValue) : cursor.SeekForPrevious(soughtKey, soughtValue);
                    place = Found(found, isForward ? Above(model, sought, inclusive: true) : Below(model, sought, inclusive: true));
                    boundPlace = FoundBound(bound.Seek(soughtValue), Above(model, ("c", sought.Value), inclusive: true));
                    break;
                case 3 when place is { } from:
                    place = Found(cursor.MoveNext(), Above(model, from, inclusive: false));
                    break;
                case 4 when place is { } from:
                    place = Found(cursor.MovePrevious(), Below(model, from, inclusive: false));
                    break;
                case 5 when place is { } from && random.Next(10) == 0:
                    isForward = random.Next(2) == 0;
                    place = isForward ? Above(model, (from.Key, "~~"), inclusive: false) : Below(model, (from.Key, ""), inclusive: false);
                    place = Found(isForward ? cursor.MoveToNextKey() : cursor.MoveToPreviousKey(), place);
                    break;
                case 6 when boundPlace is { } from:
                    boundPlace = FoundBound(bound.MovePrevious(), Below(model, from, inclusive: false));
                    break;
                case 7 when boundPlace is { } from:
                    boundPlace = FoundBound(bound.MoveNext(), Above(model, from, inclusive: false));
                    break;
                default:
                    bound.Count.Should().Be(model.Count(pair => pair.Key == "c"));
                    cursor.IsOnValue.Should().Be(place is { } on && model.Contains(on));
                    bound.IsOnValue.Should().Be(boundPlace is { } onBound && model.Contains(onBound));
                    break;
            }
        }

        (string, string)? Found(bool isFound, (string, string)? expected)
        {
            (isFound ? (Text(cursor.Key), Text(cursor.Value)) : ((string, string)?)null).Should().Be(expected);
            return expected;
        }

        (string, string)? FoundBound(bool isFound, (string Key, string)? expected)
        {
            expected = expected is { Key: "c" } ? expected : null;
            (isFound ? ("c", Text(bound.Value)) : ((string, string)?)null).Should().Be(expected);
            return expected;
        }
    }

    private static (string, string)? Above(Pairs model, (string, string) pair, bool inclusive)
    {
        foreach (var found in model.GetViewBetween(pair, ("~", "")))
        {
            if (inclusive || found != pair)
                return found;
        }

        return null;
    }

    private static (string, string)? Below(Pairs model, (string, string) pair, bool inclusive)
    {
        foreach (var found in model.GetViewBetween(("", ""), pair).Reverse())
        {
            if (inclusive || found != pair)
                return found;
        }

        return null;
    }

    // Changes the tree and the model in the same way. A nested scope is kept in both or undone in both.
    private static void Change(WriteTransaction writing, Pairs model, Random random, int depth)
    {
        var tree = writing.CreateValueSetTree(Name);
        var changes = random.Next(10, 400);
        for (var i = 0; i < changes; i++)
        {
            var key = Kinds[random.Next(Kinds.Length)].Key;
            switch (random.Next(100))
            {
                case 0 when depth < 3:
                    ChangeNested(writing, model, random, depth);

                    // A rollback ends the handle if the tree was opened after its savepoint.
                    tree = writing.CreateValueSetTree(Name);
                    break;
                case 1:
                    tree.RemoveAll(Bytes(key)).Should().Be(model.RemoveWhere(pair => pair.Key == key));
                    break;
                case 2 when random.Next(20) == 0:
                    writing.DeleteTree(Name).Should().BeTrue();
                    model.Clear();
                    tree = writing.CreateValueSetTree(Name);
                    break;
                case 2 when random.Next(10) == 0:
                    tree.Clear();
                    model.Clear();
                    break;
                case 3 when random.Next(4) == 0:
                    var doomed = model.Where(pair => string.CompareOrdinal(pair.Key, key) >= 0).Select(pair => pair.Key).Distinct().Count();
                    tree.DeleteRange(KeyRange.From(Bytes(key))).Should().Be(doomed);
                    model.RemoveWhere(pair => string.CompareOrdinal(pair.Key, key) >= 0);
                    break;
                default:
                    ChangeOne(tree, model, random, null);
                    break;
            }
        }
    }

    private static void ChangeOne(WriteValueSetTree tree, Pairs model, Random random, (string Key, string Value)? place)
    {
        var (key, value) = place is { } here && random.Next(5) == 0 ? here : Pair(random);
        if (random.Next(3) == 0)
            tree.Remove(Bytes(key), Bytes(value)).Should().Be(model.Remove((key, value)));
        else
            tree.Add(Bytes(key), Bytes(value)).Should().Be(model.Add((key, value)));
    }

    private static (string Key, string Value) Pair(Random random)
    {
        var (key, values, bytes) = Kinds[random.Next(Kinds.Length)];
        var number = random.Next(values);
        return (key, $"{number:D4}".PadRight(Math.Max(4, (int)((uint)number * 2654435761 % (uint)bytes)), (char)('a' + number % 26)));
    }

    private static void ChangeNested(WriteTransaction writing, Pairs model, Random random, int depth)
    {
        var before = new Pairs(model, Order);
        var isKept = random.Next(2) == 0;
        if (random.Next(2) == 0)
        {
            using var nested = writing.BeginNested();
            Change(writing, model, random, depth + 1);
            if (isKept)
                nested.Commit();
        }
        else
        {
            var savepoint = writing.CreateSavepoint();
            Change(writing, model, random, depth + 1);
            if (!isKept)
                savepoint.Rollback();
            savepoint.Dispose();
        }

        if (isKept)
            return;
        model.Clear();
        model.UnionWith(before);
    }

    private static void Check(ValueSetTree tree, Pairs model)
    {
        var counts = model.CountBy(pair => pair.Key).ToDictionary();
        (tree.Count, tree.ValueCount).Should().Be((counts.Count, model.Count));
        foreach (var (key, _, _) in Kinds)
            tree.CountOf(Bytes(key)).Should().Be(counts.GetValueOrDefault(key));
        using var cursor = tree.OpenCursor();
        foreach (var pair in model)
        {
            if (!cursor.MoveNext() || (Text(cursor.Key), Text(cursor.Value)) != pair || !tree.Contains(Bytes(pair.Key), Bytes(pair.Value)))
                throw new InvalidOperationException($"going forward, the pairs differ at {pair}");
        }

        cursor.MoveNext().Should().BeFalse();
        foreach (var pair in model.Reverse())
        {
            if (!cursor.MovePrevious() || (Text(cursor.Key), Text(cursor.Value)) != pair)
                throw new InvalidOperationException($"going back, the pairs differ at {pair}");
        }

        cursor.MovePrevious().Should().BeFalse();
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static string Text(ReadOnlySpan<byte> bytes) => Encoding.UTF8.GetString(bytes);
}
