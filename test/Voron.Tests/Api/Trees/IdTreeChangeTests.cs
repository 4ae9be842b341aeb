using System.Text;
using Voron.Simulation.Memory;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>Cursors and queries over id sets that change, or go back with a savepoint, and keys that are spans of the tree's own pages.</summary>
[Quick]
public sealed class IdTreeChangeTests : IDisposable
{
    private readonly StorageEnvironment _environment = StorageEnvironment.OpenInMemory(FaultTestKit.Options());

    public void Dispose() => _environment.Dispose();

    [Theory]
    [InlineData(20)]
    [InlineData(5_000)]
    public void A_cursor_goes_back_with_a_savepoint(int count)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateIdTree("t");
        tree.AddMany("k"u8, Multiples(2, count));
        using var ids = tree.OpenIds("k"u8);
        using var later = tree.OpenIds("later"u8);
        using var keys = tree.OpenCursor();
        keys.SeekFirst().Should().BeTrue();
        ids.Seek(10).Should().BeTrue();
        var savepoint = writing.CreateSavepoint();
        tree.Remove("k"u8, 10);
        tree.Add("k"u8, 11);
        tree.AddMany("later"u8, [1, 2]);
        ids.IsOnId.Should().BeFalse();
        ids.MoveNext().Should().BeTrue();
        (ids.Id, later.Count, later.MoveNext()).Should().Be((11, 2, true));
        savepoint.Rollback();
        ids.IsOnId.Should().BeFalse("its id is gone");
        ids.MoveNext().Should().BeTrue();
        (ids.Id, ids.Count).Should().Be((12, count));
        ids.MovePrevious().Should().BeTrue();
        ids.Id.Should().Be(10, "it exists again");
        (later.Count, later.IsOnId, later.MoveNext()).Should().Be((0, false, false));

        // Away with the whole set, and back.
        savepoint = writing.CreateSavepoint();
        tree.RemoveAll("k"u8).Should().Be(count);
        (ids.Count, ids.IsOnId, keys.IsOnKey).Should().Be((0, false, false));
        savepoint.Rollback();
        (ids.Count, ids.IsOnId, ids.Id, keys.IsOnKey).Should().Be((count, true, 10, true));
        ids.Fill(new long[3]).Should().Be(3);
        ids.Id.Should().Be(16);
    }

    [Theory]
    [InlineData(20)]
    [InlineData(5_000)]
    public void A_query_continues_after_a_savepoint_is_rolled_back(int count)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateIdTree("t");
        tree.AddMany("twos"u8, Multiples(2, count));
        tree.AddMany("threes"u8, Multiples(3, count));
        tree.AddMany("fives"u8, Multiples(5, count));
        foreach (var (name, make, isIn) in Queries(tree))
        {
            using var query = make();
            var found = new List<long>();
            while (found.Count < 3 && query.MoveNext())
                found.Add(query.Current);
            var last = query.Current;
            var savepoint = writing.CreateSavepoint();
            var changing = Enumerable.Range(0, count).Select(i => (long)i).ToArray();
            tree.RemoveMany("twos"u8, changing);
            tree.RemoveMany("threes"u8, changing);
            tree.AddMany("fives"u8, changing);
            query.MoveNext().Should().BeTrue();
            query.MoveNext().Should().BeTrue();
            var passed = Math.Max(query.Current, count - 1);
            savepoint.Rollback();
            while (query.MoveNext())
                found.Add(query.Current);

            // What came and went with the savepoint may be found or not.
            var all = Enumerable.Range(0, 6 * count).Select(i => (long)i).Where(id => isIn(id, count)).ToList();
            found.Should().BeInAscendingOrder().And.OnlyHaveUniqueItems(name);
            found.Where(id => id <= last || id > passed).Should().Equal(all.Where(id => id <= last || id > passed), name);
        }
    }

    [Fact]
    public void Unions_and_differences_continue_while_their_trees_change()
    {
        const int count = 4_000;
        using var writing = _environment.BeginWrite();
        var left = writing.CreateIdTree("left");
        var right = writing.CreateIdTree("right");
        left.AddMany("k"u8, Multiples(2, count));
        right.AddMany("k"u8, Multiples(3, count));

        // What has been found goes, what lies far ahead comes, and the sets around the query change, too.
        var found = new List<long>();
        using (var union = IdQuery.Or(left.Query("k"u8), right.Query("k"u8)))
        {
            while (union.MoveNext())
            {
                found.Add(union.Current);
                left.Remove("k"u8, union.Current);
                right.Remove("k"u8, union.Current);
                right.Add("other"u8, union.Current);
            }
        }

        found.Should().Equal(Enumerable.Range(0, 3 * count).Select(i => (long)i).Where(id => id % 3 == 0 || (id % 2 == 0 && id < 2 * count)));
        (left.CountOf("k"u8), right.CountOf("k"u8), right.CountOf("other"u8)).Should().Be((0, 0, found.Count));

        left.AddMany("k"u8, Multiples(1, count));
        right.AddMany("k"u8, Multiples(2, count));
        found.Clear();
        using (var difference = IdQuery.AndNot(left.Query("k"u8), right.Query("k"u8)))
        {
            while (difference.MoveNext())
            {
                found.Add(difference.Current);
                left.Remove("k"u8, difference.Current - 1);
                right.Add("k"u8, difference.Current);
                right.Remove("k"u8, difference.Current - 1);

                // The next odd id but one is left out from here on.
                right.Add("k"u8, difference.Current + 4);
            }
        }

        found.Should().Equal(Enumerable.Range(0, count).Select(i => (long)i).Where(id => id % 8 is 1 or 3));
    }

    /// <summary>
    /// The changes that wait divide the leaf of the key, and its place gets other records. The buffer is full, or a set is removed, or the key is too
    /// long to wait.
    /// </summary>
    [Theory]
    [InlineData(256, 600, false)]
    [InlineData(200, 600, true)]
    [InlineData(200, 1_100, false)]
    public void A_key_in_the_tree_may_be_passed_while_changes_wait(int waiting, int length, bool removes)
    {
        var options = FaultTestKit.Options();
        options.PageSize = 16_384;
        using var environment = StorageEnvironment.OpenInMemory(options);
        using var writing = environment.BeginWrite();
        var tree = writing.CreateIdTree("t");
        var sought = Encoding.ASCII.GetBytes(new string('z', length));
        tree.AddMany(sought, Multiples(3, 10));
        for (var i = 0; i < 40; i++)
            tree.AddMany(Filler(i * 1_000), Multiples(3, 10));
        using var cursor = tree.OpenCursor();
        cursor.SeekExact(sought).Should().BeTrue();
        var key = cursor.Key;
        for (var i = 0; i < waiting; i++)
            tree.Add(Filler(i * 100 + 1), i);
        if (removes)
            tree.RemoveAll(key).Should().Be(10);
        else
            tree.Add(key, 1_000_000);
        (tree.CountOf(sought), tree.Contains(sought, 1_000_000)).Should().Be((removes ? 0 : 11, !removes));
        tree.Count.Should().Be(40 + waiting + (removes ? 0 : 1));
    }

    [Fact]
    public void A_transaction_with_many_cursors_leaves_a_few_to_the_next_one()
    {
        const int cursors = 20;
        _environment.Write(writing => writing.CreateIdTree("t").AddMany("k"u8, Multiples(3, 1_000)));
        var opened = new IdCursor[cursors];
        for (var i = 0; i < 4; i++)
            Open();
        var before = GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes;
        for (var i = 0; i < 10; i++)
            Open();
        var each = (GC.GetAllocatedBytesForCurrentThread() - MemoryCase.ManagedBytes - before) / 10;
        each.Should().BeLessThan(48_000, "only 4 of 20 cursors are new");

        void Open()
        {
            using (var reading = _environment.BeginRead())
            {
                var tree = reading.OpenIdTree("t");
                for (var i = 0; i < cursors; i++)
                {
                    opened[i] = tree.OpenIds("k"u8);
                    opened[i].Seek(3 * i).Should().BeTrue();
                }

                for (var i = 0; i < cursors; i++)
                {
                    if (opened[i].Id != 3 * i)
                        throw new InvalidOperationException("Two handles have one cursor.");
                }

                for (var i = 0; i < cursors; i += 2)
                    opened[i].Dispose();
            }

            foreach (var cursor in opened)
            {
                if (!cursor.ToString().Contains("closed", StringComparison.Ordinal))
                    throw new InvalidOperationException("The cursor has outlived its transaction.");
            }
        }
    }

    private static (string Name, Func<IdQuery> Make, Func<long, int, bool> IsIn)[] Queries(WriteIdTree tree) =>
    [
        ("and", () => IdQuery.And(tree.Query("twos"u8), tree.Query("threes"u8)), (id, count) => IsIn(2, id, count) && IsIn(3, id, count)),
        ("or", () => IdQuery.Or(tree.Query("threes"u8), tree.Query("fives"u8)), (id, count) => IsIn(3, id, count) || IsIn(5, id, count)),
        ("and not", () => IdQuery.AndNot(tree.Query("twos"u8), tree.Query("fives"u8)), (id, count) => IsIn(2, id, count) && !IsIn(5, id, count)),
    ];

    private static bool IsIn(int step, long id, int count) => id % step == 0 && id / step < count;

    private static long[] Multiples(int step, int count) => [.. Enumerable.Range(0, count).Select(i => (long)i * step)];

    private static byte[] Filler(int number) => Encoding.ASCII.GetBytes($"{number:D6}{new string('.', 300)}");
}
