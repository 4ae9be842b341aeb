using System.Buffers.Binary;
using System.Globalization;

namespace Voron.Tests.Transactions;

/// <summary>
/// Transactions that open very many trees need work and memory in proportion to the trees that they touch. Alone, because the memory is that of
/// the process.
/// </summary>
[Collection(nameof(Alone))]
public sealed class ManyTreesTests
{
    private const int Many = 100_000;
    private const int Buffered = 20_000;

    // Of processor time: a list that is searched from its start takes minutes for these numbers of trees.
    private static readonly TimeSpan MostWork = TimeSpan.FromSeconds(20);

    [Fact]
    public void A_hundred_thousand_trees_are_created_opened_and_written_to_in_one_transaction()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        ThreadClock.Measure(() =>
        {
            using var writing = environment.BeginWrite();
            for (var i = 0; i < Many; i++)
                writing.CreateTree(Name(i));
            for (var i = 0; i < Many; i++)
                writing.OpenTree(Name(i)).Count.Should().Be(0);
            writing.Commit();
        }).Should().BeLessThan(MostWork);
        ThreadClock.Measure(() =>
        {
            using var writing = environment.BeginWrite();
            for (var i = 0; i < Many; i++)
            {
                var tree = writing.OpenTree(Name(i));
                if (i % 10 == 0)
                    tree.Put([1], Number(i));
            }

            writing.Commit();
        }).Should().BeLessThan(MostWork);
        ThreadClock.Measure(() =>
        {
            using var reading = environment.BeginRead();
            for (var i = 0; i < Many; i++)
            {
                reading.OpenTree(Name(i)).TryGet([1], out var value).Should().Be(i % 10 == 0);
                if (i % 10 == 0)
                    BinaryPrimitives.ReadInt32BigEndian(value).Should().Be(i);
            }
        }).Should().BeLessThan(MostWork);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Trees_that_are_written_to_keep_no_buffer_each_while_the_transaction_is_open_nor_when_it_has_ended()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        WriteAll(environment, 16, null);
        var before = GC.GetTotalMemory(forceFullCollection: true);
        WriteAll(environment, Buffered, () =>
            (GC.GetTotalMemory(forceFullCollection: true) - before).Should().BeLessThan(40L << 20, "a tree that is open needs some hundred bytes"));
        (GC.GetTotalMemory(forceFullCollection: true) - before).Should().BeLessThan(6L << 20, "little is kept for the next transaction");
        using var reading = environment.BeginRead();
        for (var i = 0; i < Buffered; i += 997)
            reading.OpenTree(Name(i)).Count.Should().Be(5);
    }

    [Fact]
    public void A_reader_that_opened_many_trees_keeps_little_of_them_when_it_has_ended()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        using (var writing = environment.BeginWrite())
        {
            for (var i = 0; i < Buffered; i++)
                writing.CreateTree(Name(i));
            writing.Commit();
        }

        environment.BeginRead().Dispose();
        var before = GC.GetTotalMemory(forceFullCollection: true);
        using (var reading = environment.BeginRead())
        {
            for (var i = 0; i < Buffered; i++)
                reading.OpenTree(Name(i)).OpenCursor().Dispose();
        }

        (GC.GetTotalMemory(forceFullCollection: true) - before).Should().BeLessThan(1L << 20);
    }

    [Fact]
    public void The_cost_of_a_savepoint_depends_on_later_changes_and_not_on_open_handles()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        using var writing = environment.BeginWrite();
        for (var i = 0; i < Buffered; i++)
            writing.CreateTree(Name(i));
        ThreadClock.Measure(() =>
        {
            for (var i = 0; i < Buffered; i++)
            {
                var savepoint = writing.CreateSavepoint();
                writing.OpenTree(Name(i)).Put([1], Number(i));
                if (i % 2 == 0)
                    savepoint.Rollback();
                savepoint.Release();
            }
        }).Should().BeLessThan(MostWork);
        writing.Commit();
        using var reading = environment.BeginRead();
        for (var i = 0; i < Buffered; i += 7)
            reading.OpenTree(Name(i)).Count.Should().Be(i % 2);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Trees_that_are_dropped_renamed_and_recreated_are_found_by_their_names()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        using var writing = environment.BeginWrite();
        for (var i = 0; i < 500; i++)
            writing.CreateTree(Name(i)).Put([1], Number(i));
        var savepoint = writing.CreateSavepoint();
        for (var i = 0; i < 500; i += 5)
        {
            writing.DeleteTree(Name(i)).Should().BeTrue();
            writing.RenameTree(Name(i + 1), Name(i)).Should().BeTrue();
            writing.CreateTree(Name(i + 1)).Put([2], Number(-i));
        }

        Check(writing, 0, key: 1, number: 1);
        Check(writing, 1, key: 2, number: 0);
        Check(writing, 5, key: 1, number: 6);
        Check(writing, 6, key: 2, number: -5);
        savepoint.Rollback();
        for (var i = 0; i < 500; i++)
            Check(writing, i, key: 1, number: i);
        writing.Commit();
        using var reading = environment.BeginRead();
        reading.GetTreeNames().Should().HaveCount(500);
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Making_and_dropping_a_tree_again_and_again_stays_quick()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        using var writing = environment.BeginWrite();
        for (var i = 0; i < 100; i++)
            writing.CreateTree(Name(i));
        ThreadClock.Measure(() =>
        {
            for (var i = 0; i < Many; i++)
            {
                writing.CreateTree("again").Put([1], [1]);
                writing.DeleteTree("again").Should().BeTrue();
            }
        }).Should().BeLessThan(MostWork);
        writing.Commit();
        environment.Verify().Problems.Should().BeEmpty();
    }

    [Fact]
    public void Puts_to_more_trees_than_there_are_buffers_arrive_in_order()
    {
        const int trees = 50;
        using var environment = StorageEnvironment.OpenInMemory(Options());
        var random = new Random(20261122);
        var expected = new SortedDictionary<int, int>[trees];
        using (var writing = environment.BeginWrite())
        {
            var handles = new WriteTree[trees];
            for (var i = 0; i < trees; i++)
            {
                expected[i] = [];
                handles[i] = writing.CreateTree(Name(i));
            }

            for (var i = 0; i < 40_000; i++)
            {
                var tree = random.Next(trees);
                var key = random.Next(2_000);
                expected[tree][key] = i;
                handles[tree].Put(Number(key), Number(i));
            }

            writing.Commit();
        }

        using var reading = environment.BeginRead();
        for (var i = 0; i < trees; i++)
        {
            var found = new List<(int, int)>();
            foreach (var entry in reading.OpenTree(Name(i)).GetEntries())
                found.Add((BinaryPrimitives.ReadInt32BigEndian(entry.Key), BinaryPrimitives.ReadInt32BigEndian(entry.Value)));
            found.Should().Equal(expected[i].Select(pair => (pair.Key, pair.Value)), "seed 20261122");
        }
    }

    [Fact]
    public void Opening_cursors_costs_the_same_however_many_are_open()
    {
        using var environment = StorageEnvironment.OpenInMemory(Options());
        using var writing = environment.BeginWrite();
        var tree = writing.CreateTree("t");
        tree.Put([1], [1]);
        ThreadClock.Measure(() =>
        {
            for (var i = 0; i < Many; i++)
            {
                tree.OpenCursor().SeekFirst().Should().BeTrue();
                tree.Put([2], [(byte)i]);
                tree.Count.Should().Be(2);
            }
        }).Should().BeLessThan(MostWork);
        writing.Commit();
    }

    private static void WriteAll(StorageEnvironment environment, int trees, Action? whileOpen)
    {
        using var writing = environment.BeginWrite();
        for (var i = 0; i < trees; i++)
        {
            var tree = writing.CreateTree(Name(i));
            for (var key = 5; key > 0; key--)
                tree.Put([(byte)key], Number(i));
        }

        whileOpen?.Invoke();
        writing.Commit();
    }

    private static void Check(WriteTransaction writing, int tree, byte key, int number)
    {
        var opened = writing.OpenTree(Name(tree));
        opened.Name.Should().Be(Name(tree));
        opened.Count.Should().Be(1);
        opened.TryGet([key], out var value).Should().BeTrue();
        BinaryPrimitives.ReadInt32BigEndian(value).Should().Be(number);
    }

    private static StorageOptions Options() => new() { BackgroundFlush = false };

    private static string Name(int i) => i.ToString("D6", CultureInfo.InvariantCulture);

    private static byte[] Number(int number)
    {
        var bytes = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(bytes, number);
        return bytes;
    }
}
