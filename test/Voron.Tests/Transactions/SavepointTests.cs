using System.Buffers.Binary;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Transactions;

/// <summary>
/// Very many savepoints, side by side and inside each other: the memory that they keep, their cost, and the state that they bring back.
/// </summary>
public sealed class SavepointTests
{
    private static readonly TimeSpan MostWork = TimeSpan.FromSeconds(20);

    [Fact]
    public void Nested_transactions_that_change_one_page_keep_one_copy_of_it()
    {
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        for (var i = 0; i < 2_000; i++)
        {
            using var nested = writing.BeginNested();
            tree.Put([1], Number(i));
            if (i % 3 != 0)
                nested.Commit();
        }

        writing.Body.WritePages.ChangedBytes.Should().BeLessThan(64 << 10);
        environment.Internals.Engine.Frames.UsedBytes.Should().BeLessThan(64 << 10);
        environment.Internals.Engine.Versions.NodeCount.Should().BeLessThan(16);
        writing.Commit();
        using var reading = environment.BeginRead();
        reading.OpenTree("t").TryGet([1], out var value).Should().BeTrue();
        value.ToArray().Should().Equal(Number(1_999));
        environment.Verify().Problems.Should().BeEmpty();
    }

    /// <summary>The puts of a second tree failed again, in the Dispose that a using statement calls.</summary>
    [Fact]
    public void A_release_without_room_for_the_puts_that_wait_fails_once()
    {
        string[] names = ["a", "b"];
        using var environment = StorageEnvironment.OpenInMemory(
            new StorageOptions { BackgroundFlush = false, PageSize = 64 << 10, MaxTransactionBytes = 1 << 20 });
        for (var from = 0; from < 1_000; from += 100)
        {
            using var filling = environment.BeginWrite();
            foreach (var name in names)
            {
                var tree = filling.CreateTree(name);
                for (var i = from; i < from + 100; i++)
                    tree.Put(FaultTestKit.Key(i), FaultTestKit.Value(i, 2_000));
            }

            filling.Commit();
        }

        using (var writing = environment.BeginWrite())
        {
            var trees = Array.ConvertAll(names, name => writing.CreateTree(name));
            foreach (var tree in trees)
                tree.Put(FaultTestKit.Key(500), [1]);
            var savepoint = writing.CreateSavepoint();
            foreach (var tree in trees)
            {
                for (var i = 0; i < 1_000; i += 33)
                    tree.Put(FaultTestKit.Key(i), [2]);
            }

            savepoint.Invoking(one => one.Release()).Should().Throw<TransactionTooLargeException>().WithMessage("*MaxTransactionBytes*");
            savepoint.Invoking(one => one.Dispose()).Should().NotThrow();
            writing.Invoking(one => one.Commit()).Should().Throw<InvalidOperationException>().WithMessage("*can only be rolled back*");
        }

        using (var reading = environment.BeginRead())
        {
            reading.OpenTree("a").TryGet(FaultTestKit.Key(33), out var value).Should().BeTrue();
            value.ToArray().Should().Equal(FaultTestKit.Value(33, 2_000));
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void An_import_with_a_nested_transaction_a_row_needs_the_memory_of_its_rows()
    {
        using var environment = StorageEnvironment.OpenInMemory(new StorageOptions { BackgroundFlush = false, MaxTransactionBytes = 24 << 20 });
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree("rows");
            for (var i = 0; i < 30_000; i++)
            {
                using var nested = writing.BeginNested();
                tree.Put(Number(i), FaultTestKit.Value(i, 200));
                nested.Commit();
            }

            writing.Body.WritePages.ChangedBytes.Should().BeLessThan(12 << 20);
            writing.Commit();
        }

        using var reading = environment.BeginRead();
        reading.OpenTree("rows").Count.Should().Be(30_000);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_hundred_thousand_savepoints_of_one_page_are_committed_quickly(bool areReleased)
    {
        // Savepoints that stay open keep a copy each, so there are fewer of them, and the commit puts their pages together.
        var count = areReleased ? 100_000 : 50_000;
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        ThreadClock.Measure(() =>
        {
            for (var i = 0; i < count; i++)
            {
                var savepoint = writing.CreateSavepoint();
                tree.Put([(byte)(i % 50)], Number(i));
                if (areReleased)
                    savepoint.Release();
            }

            writing.Commit();
        }).Should().BeLessThan(MostWork);
        using var reading = environment.BeginRead();
        reading.OpenTree("t").Count.Should().Be(50);
        reading.OpenTree("t").TryGet([49], out var value).Should().BeTrue();
        value.ToArray().Should().Equal(Number(count - 1));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Savepoints_deep_inside_each_other_end_one_by_one_in_time_for_their_number(bool areReleased)
    {
        const int depth = 30_000;
        using var environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        for (var i = 0; i < depth; i++)
            tree.Put(Number(i), FaultTestKit.Value(i, 100));
        var before = writing.Body.WritePages.ChangedBytes;
        ThreadClock.Measure(() =>
        {
            var open = new Stack<Savepoint>(depth);
            for (var i = 0; i < depth; i++)
            {
                open.Push(writing.CreateSavepoint());
                tree.Put(Number(i), Number(i));
            }

            while (open.TryPop(out var savepoint))
            {
                if (!areReleased)
                    savepoint.Rollback();
                savepoint.Dispose();
            }
        }).Should().BeLessThan(MostWork);
        writing.Body.WritePages.ChangedBytes.Should().BeLessThanOrEqualTo(before);
        writing.Commit();
        using var reading = environment.BeginRead();
        for (var i = 0; i < depth; i += 101)
        {
            reading.OpenTree("t").TryGet(Number(i), out var value).Should().BeTrue();
            value.Length.Should().Be(areReleased ? 4 : 100);
        }

        environment.Verify().Problems.Should().BeEmpty();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void The_trees_and_the_journal_have_the_kept_changes_in_whatever_order_savepoints_end(int seed)
    {
        var disk = new SimulatedDisk();
        using var environment = StorageEnvironment.Open(disk, FaultTestKit.Options());
        var random = new Random(seed);
        var committed = new SavepointModel();
        for (var round = 0; round < SuiteShare.Rounds(12); round++)
        {
            using var writing = environment.BeginWrite();
            var model = committed.Copy();
            var open = new List<(Savepoint Savepoint, SavepointModel Before)>();
            for (var i = 0; i < 600; i++)
            {
                switch (random.Next(12))
                {
                    case < 3 when open.Count < 40:
                        open.Add((writing.CreateSavepoint(), model.Copy()));
                        break;
                    case 3 when open.Count > 0:
                    case 4 when open.Count > 0:
                        var released = random.Next(4) == 0 ? random.Next(open.Count) : open.Count - 1;
                        open[released].Savepoint.Release();
                        open.RemoveRange(released, open.Count - released);
                        break;
                    case 5 when open.Count > 0:
                        var at = random.Next(3) == 0 ? random.Next(open.Count) : open.Count - 1;
                        open[at].Savepoint.Rollback();
                        model = open[at].Before.Copy();
                        open.RemoveRange(at + 1, open.Count - at - 1);
                        break;
                    default:
                        model.Change(writing, random);
                        break;
                }
            }

            model.Check(writing, seed);
            if (random.Next(5) == 0)
                continue;
            writing.Commit();
            committed = model;
            committed.Check(environment, seed);
            environment.Verify().Problems.Should().BeEmpty($"seed {seed}");
            if (random.Next(3) == 0)
                environment.Flush();
            using var replayed = StorageEnvironment.Open(FaultTestKit.DiskOf(FaultTestKit.Bytes(disk)), FaultTestKit.Options());
            committed.Check(replayed, seed);
            replayed.Verify().Problems.Should().BeEmpty($"seed {seed}, replayed");
        }
    }

    private static byte[] Number(int number)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(bytes, number);
        return bytes;
    }

    /// <summary>The expected contents of the trees: keys with the seed and the length of their values.</summary>
    private sealed class SavepointModel
    {
        private readonly SortedDictionary<string, SortedDictionary<int, (int Seed, int Length)>> _trees = new(StringComparer.Ordinal);

        public SavepointModel Copy()
        {
            var copy = new SavepointModel();
            foreach (var (name, entries) in _trees)
                copy._trees[name] = new(entries);
            return copy;
        }

        public void Change(WriteTransaction writing, Random random)
        {
            var name = $"tree {random.Next(12)}";
            if (random.Next(40) == 0)
            {
                writing.DeleteTree(name).Should().Be(_trees.Remove(name));
                return;
            }

            var newName = $"tree {random.Next(12)}";
            if (random.Next(40) == 0 && _trees.TryGetValue(name, out var entries) && _trees.TryAdd(newName, entries))
            {
                writing.RenameTree(name, newName).Should().BeTrue();
                _trees.Remove(name);
                return;
            }

            var tree = writing.CreateTree(name);
            if (!_trees.TryGetValue(name, out entries))
                _trees[name] = entries = [];
            for (var i = random.Next(1, 8); i > 0; i--)
            {
                var key = random.Next(120);
                if (random.Next(4) == 0)
                {
                    tree.Delete(Number(key)).Should().Be(entries.Remove(key));
                    continue;
                }

                // Some values in the leaf, some in extents, some written directly.
                var length = random.Next(20) switch { 0 => random.Next(60_000, 90_000), < 4 => random.Next(3_000, 20_000), _ => random.Next(300) };
                entries[key] = (random.Next(), length);
                tree.Put(Number(key), FaultTestKit.Value(entries[key].Seed, length));
            }
        }

        public void Check(WriteTransaction writing, int seed)
        {
            writing.GetTreeNames().Should().Equal(_trees.Keys, $"seed {seed}");
            foreach (var (name, entries) in _trees)
                Check(writing.OpenTree(name), entries, seed);
        }

        public void Check(StorageEnvironment environment, int seed)
        {
            using var reading = environment.BeginRead();
            reading.GetTreeNames().Should().Equal(_trees.Keys, $"seed {seed}");
            foreach (var (name, entries) in _trees)
                Check(reading.OpenTree(name), entries, seed);
        }

        private static void Check(Tree tree, SortedDictionary<int, (int Seed, int Length)> entries, int seed)
        {
            tree.Count.Should().Be(entries.Count, $"seed {seed}");
            foreach (var (key, expected) in entries)
            {
                var isRight = tree.TryGet(Number(key), out var value) && value.SequenceEqual(FaultTestKit.Value(expected.Seed, expected.Length));
                isRight.Should().BeTrue($"seed {seed}, key {key} of '{tree.Name}'");
            }
        }
    }
}
