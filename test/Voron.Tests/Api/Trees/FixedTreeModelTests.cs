using System.Runtime.InteropServices;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>A fixed-size tree does what a sorted dictionary does: through savepoints, rollbacks, commits, flushes and power cuts.</summary>
public sealed class FixedTreeModelTests
{
    private const string Name = "numbers";
    private const int Keys = 4_000;

    [Theory]
    [InlineData(8)]
    [InlineData(0)]
    [InlineData(200)]
    public void Transactions_with_savepoints_leave_what_the_model_has(int valueSize)
    {
        var random = new Random(TestSeed.Choose());
        var disk = new SimulatedDisk();
        var model = new SortedDictionary<long, int>();
        for (var opening = 0; opening < 4; opening++)
        {
            using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
            for (var i = 0; i < SuiteShare.Rounds(25); i++)
            {
                var changed = new SortedDictionary<long, int>(model);
                using (var writing = environment.BeginWrite())
                {
                    Change(writing, changed, random, valueSize, depth: 0);
                    Check(writing.OpenFixedTree(Name), changed, valueSize);
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
            if (reading.TryOpenFixedTree(Name, out var tree))
                Check(tree, model, valueSize);
        }
    }

    [Fact]
    public void After_a_power_cut_the_tree_is_that_of_a_commit()
    {
        var random = new Random(TestSeed.Choose());
        var disk = new SimulatedDisk();
        var states = new List<(SortedDictionary<long, int> Model, int DurableAt)>();
        var model = new SortedDictionary<long, int>();
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            for (var i = 0; i < 20; i++)
            {
                using (var writing = environment.BeginWrite())
                {
                    Change(writing, model, random, 8, depth: 0);
                    writing.Commit();
                }

                states.Add((new SortedDictionary<long, int>(model), disk.TraceCount));
                if (i % 6 == 5)
                    environment.Flush();
            }

            var images = new CrashImages(disk);
            for (var cut = states[0].DurableAt; cut <= disk.TraceCount; cut += 2 * SuiteShare.Step(5))
            {
                using var again = StorageEnvironment.Open(images.Build(cut, random), FaultTestKit.Options());
                again.Verify().Problems.Should().BeEmpty();
                using var reading = again.BeginRead();
                var acknowledged = states.FindLastIndex(state => state.DurableAt <= cut);
                var index = (int)reading.TransactionId - 1;
                index.Should().BeGreaterThanOrEqualTo(acknowledged, $"a commit before call {cut} was acknowledged");
                Check(reading.OpenFixedTree(Name), states[index].Model, 8);
            }
        }
    }

    // Changes the tree and the model in the same way. A nested scope is kept in both or undone in both.
    private static void Change(WriteTransaction writing, SortedDictionary<long, int> model, Random random, int valueSize, int depth)
    {
        var tree = writing.CreateFixedTree(Name, valueSize);
        var changes = random.Next(10, 400);
        for (var i = 0; i < changes; i++)
        {
            switch (random.Next(100))
            {
                case 0 when depth < 3:
                    ChangeNested(writing, model, random, valueSize, depth);

                    // A rollback ends the handle if the tree was opened after its savepoint.
                    tree = writing.CreateFixedTree(Name, valueSize);
                    break;
                case 1:
                    var first = random.Next(-Keys, Keys);
                    var last = first + random.Next(Keys / 4);
                    var doomed = model.Keys.Where(key => key >= first && key <= last).ToList();
                    tree.DeleteRange(first, last).Should().Be(doomed.Count);
                    doomed.ForEach(key => model.Remove(key));
                    break;
                case 2 when random.Next(20) == 0:
                    writing.DeleteTree(Name).Should().BeTrue();
                    model.Clear();
                    tree = writing.CreateFixedTree(Name, valueSize);
                    break;
                case < 25:
                    var gone = random.Next(-Keys, Keys);
                    tree.Delete(gone).Should().Be(model.Remove(gone));
                    break;
                case < 60:
                    Put(tree, model, model.Count == 0 ? 0 : model.Keys.Last() + 1, random.Next(), valueSize);
                    break;
                default:
                    Put(tree, model, random.Next(-Keys, Keys), random.Next(), valueSize);
                    break;
            }
        }
    }

    private static void ChangeNested(WriteTransaction writing, SortedDictionary<long, int> model, Random random, int valueSize, int depth)
    {
        var before = new SortedDictionary<long, int>(model);
        var isKept = random.Next(2) == 0;
        if (random.Next(2) == 0)
        {
            using var nested = writing.BeginNested();
            Change(writing, model, random, valueSize, depth + 1);
            if (isKept)
                nested.Commit();
        }
        else
        {
            var savepoint = writing.CreateSavepoint();
            Change(writing, model, random, valueSize, depth + 1);
            if (!isKept)
                savepoint.Rollback();
            savepoint.Dispose();
        }

        if (isKept)
            return;
        model.Clear();
        foreach (var (key, value) in before)
            model[key] = value;
    }

    private static void Put(WriteFixedTree tree, SortedDictionary<long, int> model, long key, int value, int valueSize)
    {
        tree.Put(key, Value(value, valueSize));
        model[key] = value;
    }

    private static byte[] Value(int number, int valueSize)
    {
        var value = new byte[valueSize];
        for (var i = 0; i < value.Length; i++)
            value[i] = MemoryMarshal.AsBytes(new ReadOnlySpan<int>(in number))[i % 4];
        return value;
    }

    private static void Check(FixedTree tree, SortedDictionary<long, int> model, int valueSize)
    {
        tree.Count.Should().Be(model.Count);
        using var cursor = tree.OpenCursor();
        foreach (var (key, value) in model)
        {
            if (!cursor.MoveNext() || cursor.Key != key || !cursor.Value.SequenceEqual(Value(value, valueSize)))
                throw new InvalidOperationException($"the tree differs from the model at key {key}");
        }

        cursor.MoveNext().Should().BeFalse();
        foreach (var key in model.Keys.Reverse())
        {
            if (!cursor.MovePrevious() || cursor.Key != key)
                throw new InvalidOperationException($"going back, the tree differs at key {key}");
        }
    }
}
