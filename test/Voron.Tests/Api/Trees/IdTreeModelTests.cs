using System.Text;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

using Sets = System.Collections.Generic.SortedDictionary<string, System.Collections.Generic.SortedDictionary<long, byte>>;

namespace Voron.Tests.Api;

/// <summary>A tree of id sets does what sorted dictionaries do: through savepoints, rollbacks, commits, flushes and power cuts.</summary>
public sealed class IdTreeModelTests
{
    private const string Name = "words";

    // Some sets stay in their leaf, others have pages of their own, with blocks of all widths.
    private static readonly (string Key, long Ids)[] Keys =
        [("a", 4), ("be", 100), ("few", 400), ("many", 20_000), ("sparse", long.MaxValue), ("z", 5_000_000)];

    [Fact]
    public void Transactions_with_savepoints_leave_what_the_model_has()
    {
        var random = new Random(TestSeed.Choose());
        var disk = new SimulatedDisk();
        var model = new Sets(StringComparer.Ordinal);
        for (var opening = 0; opening < 4; opening++)
        {
            using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
            for (var i = 0; i < SuiteShare.Rounds(25); i++)
            {
                var changed = Copy(model);
                using (var writing = environment.BeginWrite())
                {
                    Change(writing, changed, random, depth: 0);
                    Check(writing.OpenIdTree(Name), changed, random);
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
            if (reading.TryOpenIdTree(Name, out var tree))
                Check(tree, model, random);
        }
    }

    [Fact]
    public void After_a_power_cut_the_sets_are_those_of_a_commit()
    {
        var random = new Random(TestSeed.Choose());
        var disk = new SimulatedDisk();
        var states = new List<(Sets Model, int DurableAt)>();
        var model = new Sets(StringComparer.Ordinal);
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        for (var i = 0; i < 20; i++)
        {
            using (var writing = environment.BeginWrite())
            {
                Change(writing, model, random, depth: 0);
                writing.Commit();
            }

            states.Add((Copy(model), disk.TraceCount));
            if (i % 6 == 5)
                environment.Flush();
        }

        var images = new CrashImages(disk);
        for (var cut = states[0].DurableAt; cut <= disk.TraceCount; cut += 2 * SuiteShare.Step(15))
        {
            using var again = StorageEnvironment.Open(images.Build(cut, random), FaultTestKit.Options());
            again.Verify().Problems.Should().BeEmpty();
            using var reading = again.BeginRead();
            var acknowledged = states.FindLastIndex(state => state.DurableAt <= cut);
            var index = (int)reading.TransactionId - 1;
            index.Should().BeGreaterThanOrEqualTo(acknowledged, $"a commit before call {cut} was acknowledged");
            Check(reading.OpenIdTree(Name), states[index].Model, random);
        }
    }

    [Fact]
    public void A_cursor_keeps_its_place_while_its_set_changes()
    {
        var random = new Random(TestSeed.Choose());
        using var environment = StorageEnvironment.Open(new SimulatedDisk(), FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateIdTree(Name);
        foreach (var most in new[] { 40, 2_000 })
        {
            var model = new SortedSet<long>();
            using var cursor = tree.OpenIds("key"u8);
            long? place = null;
            for (var i = 0; i < 20_000; i++)
            {
                switch (random.Next(6))
                {
                    case 0:
                        var added = random.Next(most);
                        tree.Add("key"u8, added);
                        model.Add(added);
                        break;
                    case 1:
                        var gone = random.Next(3) == 0 && place is { } here ? here : random.Next(most);
                        tree.Remove("key"u8, gone);
                        model.Remove(gone);
                        break;
                    case 2 when random.Next(500) == 0:
                        tree.RemoveAll("key"u8).Should().Be(model.Count);
                        model.Clear();
                        break;
                    case 2:
                        var sought = random.Next(most);
                        place = Found(cursor.Seek(sought), cursor, model.GetViewBetween(sought, most).Cast<long?>().FirstOrDefault());
                        break;
                    case 3 when place is { } from:
                        place = Found(cursor.MoveNext(), cursor, model.GetViewBetween(from + 1, most + 1).Cast<long?>().FirstOrDefault());
                        break;
                    case 4 when place is { } from:
                        place = Found(cursor.MovePrevious(), cursor, model.GetViewBetween(-1, from - 1).Cast<long?>().LastOrDefault());
                        break;
                    case 5:
                        cursor.Count.Should().Be(model.Count);
                        if (place is { } on)
                            cursor.IsOnId.Should().Be(model.Contains(on));
                        break;
                }
            }

            tree.RemoveAll("key"u8);
        }

        static long? Found(bool isFound, IdCursor cursor, long? expected)
        {
            (isFound ? cursor.Id : (long?)null).Should().Be(expected);
            return expected;
        }
    }

    // Changes the tree and the model in the same way. A nested scope is kept in both or undone in both.
    private static void Change(WriteTransaction writing, Sets model, Random random, int depth)
    {
        var tree = writing.CreateIdTree(Name);
        var changes = random.Next(10, 400);
        for (var i = 0; i < changes; i++)
        {
            var (key, most) = Keys[random.Next(Keys.Length)];
            switch (random.Next(100))
            {
                case 0 when depth < 3:
                    ChangeNested(writing, model, random, depth);

                    // A rollback ends the handle if the tree was opened after its savepoint.
                    tree = writing.CreateIdTree(Name);
                    break;
                case 1:
                    tree.RemoveAll(Bytes(key)).Should().Be(model.TryGetValue(key, out var set) ? set.Count : 0);
                    model.Remove(key);
                    break;
                case 2 when random.Next(20) == 0:
                    writing.DeleteTree(Name).Should().BeTrue();
                    model.Clear();
                    tree = writing.CreateIdTree(Name);
                    break;
                case 3 when random.Next(4) == 0:
                    var doomed = model.Keys.Where(name => string.CompareOrdinal(name, key) >= 0).ToList();
                    tree.DeleteRange(KeyRange.From(Bytes(key))).Should().Be(doomed.Count);
                    doomed.ForEach(name => model.Remove(name));
                    break;
                case < 6:
                    ChangeMany(tree, model, key, most, random);
                    break;
                case < 25:
                    Remove(tree, model, key, random.NextInt64(most));
                    break;
                case < 60:
                    Add(tree, model, key, Math.Min(most - 1, model.TryGetValue(key, out set) ? set.Keys.Last() + 1 : 0), (byte)random.Next(4));
                    break;
                default:
                    Add(tree, model, key, random.NextInt64(most), (byte)random.Next(256));
                    break;
            }
        }
    }

    private static void ChangeMany(WriteIdTree tree, Sets model, string key, long most, Random random)
    {
        var ids = Enumerable.Range(0, random.Next(2_000)).Select(_ => random.NextInt64(most)).Distinct().Order().ToArray();
        var set = model.TryGetValue(key, out var there) ? there : [];
        if (random.Next(3) == 0)
        {
            tree.RemoveMany(Bytes(key), ids).Should().Be(ids.Count(set.Remove));
        }
        else
        {
            var payloads = new byte[ids.Length];
            random.NextBytes(payloads);
            tree.AddMany(Bytes(key), ids, payloads).Should().Be(ids.Count(id => !set.ContainsKey(id)));
            for (var i = 0; i < ids.Length; i++)
                set[ids[i]] = payloads[i];
        }

        if (set.Count == 0)
            model.Remove(key);
        else
            model[key] = set;
    }

    private static void ChangeNested(WriteTransaction writing, Sets model, Random random, int depth)
    {
        var before = Copy(model);
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
        foreach (var (key, set) in before)
            model[key] = set;
    }

    private static void Add(WriteIdTree tree, Sets model, string key, long id, byte payload)
    {
        tree.Add(Bytes(key), id, payload);
        if (!model.TryGetValue(key, out var set))
            model[key] = set = [];
        set[id] = payload;
    }

    private static void Remove(WriteIdTree tree, Sets model, string key, long id)
    {
        tree.Remove(Bytes(key), id);
        if (model.TryGetValue(key, out var set) && set.Remove(id) && set.Count == 0)
            model.Remove(key);
    }

    private static Sets Copy(Sets model)
    {
        var copy = new Sets(StringComparer.Ordinal);
        foreach (var (key, set) in model)
            copy[key] = new SortedDictionary<long, byte>(set);
        return copy;
    }

    private static byte[] Bytes(string key) => Encoding.UTF8.GetBytes(key);

    private static void Check(IdTree tree, Sets model, Random random)
    {
        (tree.Count, tree.ValueCount).Should().Be((model.Count, model.Sum(pair => (long)pair.Value.Count)));
        using var keys = tree.OpenCursor();
        foreach (var (key, set) in model)
        {
            keys.MoveNext().Should().BeTrue();
            (Encoding.UTF8.GetString(keys.Key), keys.Count, tree.CountOf(Bytes(key))).Should().Be((key, set.Count, set.Count));
            CheckSet(tree, keys, Bytes(key), set, random);
        }

        keys.MoveNext().Should().BeFalse();
    }

    private static void CheckSet(IdTree tree, IdKeyCursor keys, byte[] key, SortedDictionary<long, byte> set, Random random)
    {
        using var ids = keys.OpenIds();
        var buffer = new long[random.Next(1, 300)];
        var payloads = new byte[buffer.Length];
        var read = new List<(long, byte)>();
        for (int count; (count = ids.Fill(buffer, payloads)) > 0;)
            read.AddRange(buffer.Take(count).Zip(payloads));
        read.Should().Equal(set.Select(pair => (pair.Key, pair.Value)));
        foreach (var (id, payload) in set.Reverse())
        {
            if (!ids.MovePrevious() || ids.Id != id || ids.Payload != payload)
                throw new InvalidOperationException($"going back, the set of {Encoding.UTF8.GetString(key)} differs at id {id}");
        }

        ids.MovePrevious().Should().BeFalse();
        for (var i = 0; i < 20; i++)
        {
            var id = random.Next(2) == 0 ? set.Keys.ElementAt(random.Next(set.Count)) : random.NextInt64(set.Keys.Last() + 1);
            tree.TryGetPayload(key, id, out var payload).Should().Be(set.TryGetValue(id, out var expected));
            payload.Should().Be(expected);
        }
    }
}
