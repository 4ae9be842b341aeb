using Voron.Format;
using Voron.Primitives;
using Voron.Trees.FixedSize;

namespace Voron.Tests.Trees.FixedSize;

public sealed unsafe class FixedSizeTreeTests
{
    public static TheoryData<int, int> Sizes => new()
    {
        { 4096, 0 }, { 4096, 8 }, { 4096, 100 }, { 4096, 512 }, { 8192, 8 }, { 16384, 16 }, { 65536, 8192 },
    };

    [Theory]
    [MemberData(nameof(Sizes))]
    public void Any_changes_leave_the_entries_of_a_sorted_dictionary(int pageSize, int valueSize)
    {
        var random = new Random(TestSeed.Choose());
        using var tree = new TestFixedSizeTree(pageSize, valueSize);
        var perPage = new ArrayLayout(pageSize, valueSize).Capacity;
        long keys = perPage * 40;
        for (var i = 0; i < SuiteShare.Rounds(60); i++)
        {
            for (var j = random.Next(perPage * 2); j > 0; j--)
                ChangeAtRandom(tree, random, keys);
            if (random.Next(4) == 0)
                DeleteRangeAtRandom(tree, random, keys);
            if (i % 3 == 0)
            {
                tree.Pages.EndTransaction();
                tree.Check();
            }

            CheckSearches(tree, random, keys);
        }
    }

    [Theory]
    [MemberData(nameof(Sizes))]
    public void Appended_entries_fill_their_pages(int pageSize, int valueSize)
    {
        using var tree = new TestFixedSizeTree(pageSize, valueSize);
        var perPage = new ArrayLayout(pageSize, valueSize).Capacity;
        for (var i = 0; i < perPage * 30; i++)
            tree.Put(i, i);
        tree.State.LeafPages.Should().Be(30);
        tree.Check();
    }

    [Fact]
    public void Keys_at_both_ends_of_the_numbers_are_keys_like_others()
    {
        using var tree = new TestFixedSizeTree();
        foreach (var key in (long[])[0, long.MaxValue, long.MinValue, -1, 1])
            tree.Put(key, (int)(key % 1000));
        for (var i = 0; i < 2_000; i++)
            tree.Put(long.MaxValue - i, i);
        for (var i = 0; i < 2_000; i++)
            tree.Put(long.MinValue + i, i);
        tree.Check();
        tree.Near(long.MaxValue, 1).Should().Be(long.MaxValue);
        tree.Near(long.MinValue, -1).Should().Be(long.MinValue);
        tree.DeleteRange(long.MinValue, 0);
        tree.Check();
        tree.DeleteRange(2, long.MaxValue);
        tree.Check();
        tree.DeleteRange(long.MinValue, long.MaxValue);
        tree.Pages.PagesInUse.Should().Be(0);
    }

    [Fact]
    public void Deleting_everything_frees_every_page()
    {
        using var tree = new TestFixedSizeTree();
        var random = new Random(TestSeed.Choose());
        for (var i = 0; i < 20_000; i++)
            tree.Put(random.NextInt64(), i);
        tree.Pages.EndTransaction();
        foreach (var key in tree.Model.Keys.OrderBy(_ => random.Next()).ToList())
        {
            tree.Delete(key);
            if (random.Next(2_000) == 0)
                tree.Check();
        }

        tree.Pages.EndTransaction();
        tree.Pages.PagesInUse.Should().Be(0);
        tree.State.Depth.Should().Be(0);
        tree.Put(1, 1);
        tree.Check();
    }

    [Fact]
    public void A_tree_keeps_few_pages_after_most_entries_are_deleted()
    {
        using var tree = new TestFixedSizeTree();
        for (var i = 0; i < 237 * 60; i++)
            tree.Put(i, i);
        for (var i = 0; i < 237 * 60; i++)
        {
            if (i % 10 != 0)
                tree.Delete(i);
        }

        tree.Check();
        tree.State.LeafPages.Should().BeLessThan(20);
    }

    [Fact]
    public void A_value_may_come_from_the_tree()
    {
        using var tree = new TestFixedSizeTree(4096, 100);
        var random = new Random(TestSeed.Choose());
        for (var i = 0; i < 2_000; i++)
            tree.Put(random.Next(5_000), i);
        for (var i = 0; i < 2_000; i++)
        {
            if (i % 100 == 0)
                tree.Pages.EndTransaction();
            var from = tree.Model.Keys.ElementAt(random.Next(tree.Model.Count));
            var to = random.Next(2) == 0 ? from + random.Next(-3, 4) : random.Next(5_000);
            FixedSizeWriter.Put(tree.Pages, tree.State, to, tree.Get(from));
            tree.Model[to] = tree.Model[from];
        }

        tree.Check();
    }

    [Fact]
    public void A_cursor_keeps_its_place_while_the_tree_changes()
    {
        var random = new Random(TestSeed.Choose());
        using var tree = new TestFixedSizeTree();
        for (var i = 0; i < 5_000; i++)
            tree.Put(random.Next(50_000), i);
        var cursor = tree.OpenCursor();
        for (var round = 0; round < 3; round++)
        {
            // Each key that existed before and stays is visited, in order, whatever happens around it.
            var expected = long.MinValue;
            var found = cursor.SeekFirst();
            while (found)
            {
                cursor.Key.Should().BeGreaterThan(expected);
                expected = cursor.Key;
                switch (random.Next(4))
                {
                    case 0:
                        tree.Model.Remove(expected);
                        cursor.Delete(tree.Pages).Should().BeTrue();
                        cursor.IsOnEntry.Should().BeFalse();
                        cursor.Delete(tree.Pages).Should().BeFalse();
                        break;
                    case 1:
                        tree.Put(random.Next(50_000), round);
                        break;
                }

                var next = tree.Model.Keys.FirstOrDefault(key => key > expected, -1);
                found = cursor.MoveNext();
                found.Should().Be(next >= 0);
                if (found)
                    cursor.Key.Should().Be(next);
            }
        }
    }

    [Fact]
    public void Damaged_trees_end_in_exceptions()
    {
        var random = new Random(TestSeed.Choose());
        for (var round = 0; round < SuiteShare.Rounds(300); round++)
        {
            using var tree = new TestFixedSizeTree();
            for (var i = 0; i < 70_000; i += 7)
                tree.Put(i, i);
            tree.State.Depth.Should().Be(2);
            tree.Pages.EndTransaction();
            Damage(tree, random);
            try
            {
                var cursor = tree.OpenCursor();
                for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
                    _ = cursor.Value;
                switch (random.Next(3))
                {
                    case 0:
                        FixedSizeRemoval.Delete(tree.Pages, tree.State, random.Next(70_000), random.Next(70_000));
                        break;
                    case 1:
                        for (var i = 0; i < 3_000; i++)
                            FixedSizeWriter.Put(tree.Pages, tree.State, random.Next(70_000), tree.Value(1));
                        break;
                    default:
                        for (var i = 0; i < 70_000; i += 7)
                            FixedSizeWriter.Delete(tree.Pages, tree.State, i);
                        break;
                }
            }
            catch (Exception e) when (e is CorruptionException || e.Message.EndsWith("is not in use", StringComparison.Ordinal))
            {
                // As it should be, unless the damage was never met. A page that two links lead to may have been freed through one of them.
            }
        }
    }

    // Every page stays one that the check of a single page accepts. The fault is in the links between them.
    private static void Damage(TestFixedSizeTree tree, Random random)
    {
        var layout = tree.State.Shape(4096).Branch;
        var root = tree.Pages.Damage(tree.State.Root);
        var child = (uint*)Voron.Trees.Pages.ArrayPage.Value(root, layout, random.Next(Voron.Trees.Pages.ArrayPage.Count(root)));
        switch (random.Next(4))
        {
            case 0:
                *child = (uint)tree.State.Root.Value;
                break;
            case 1:
                *child = *(uint*)Voron.Trees.Pages.ArrayPage.Value(root, layout, 0);
                break;
            case 2:
                ((PageHeader*)tree.Pages.Damage(new PageNumber(*child)))->ValueSize = 9;
                break;
            default:
                ((PageHeader*)tree.Pages.Damage(new PageNumber(*child)))->Kind = PageKind.Leaf;
                break;
        }
    }

    private static void ChangeAtRandom(TestFixedSizeTree tree, Random random, long keys)
    {
        switch (random.Next(10))
        {
            case < 3:
                tree.Delete(random.NextInt64(-keys, keys));
                break;
            case < 5:
                tree.Put(tree.Model.Count == 0 ? 0 : tree.Model.Keys.Last() + 1, random.Next());
                break;
            default:
                tree.Put(random.NextInt64(-keys, keys), random.Next());
                break;
        }
    }

    private static void DeleteRangeAtRandom(TestFixedSizeTree tree, Random random, long keys)
    {
        var first = random.NextInt64(-keys, keys);
        tree.DeleteRange(first, first + random.NextInt64(-5, random.Next(3) == 0 ? keys : keys / 10));
        tree.Check();
    }

    private static void CheckSearches(TestFixedSizeTree tree, Random random, long keys)
    {
        var group = new long[random.Next(1, FixedSizeReader.Width + 1)];
        for (var i = 0; i < group.Length; i++)
            group[i] = random.NextInt64(-keys, keys);
        var values = stackalloc byte*[FixedSizeReader.Width];
        FixedSizeReader.FindMany(tree.State, tree.Pages, group, values);
        for (var i = 0; i < group.Length; i++)
        {
            var known = tree.Model.TryGetValue(group[i], out var value);
            tree.Contains(group[i]).Should().Be(known);
            (values[i] != null).Should().Be(known);
            if (known)
            {
                tree.Get(group[i]).SequenceEqual(tree.Value(value)).Should().BeTrue();
                new ReadOnlySpan<byte>(values[i], tree.ValueSize).SequenceEqual(tree.Value(value)).Should().BeTrue();
            }
        }

        var sorted = tree.Model.Keys.ToArray();
        for (var i = 0; i < 10; i++)
        {
            var key = random.NextInt64(-keys, keys);
            var at = Array.BinarySearch(sorted, key);
            var next = at >= 0 ? at : ~at;
            var before = at >= 0 ? at : ~at - 1;
            tree.Near(key, 1).Should().Be(next < sorted.Length ? sorted[next] : null);
            tree.Near(key, -1).Should().Be(before >= 0 ? sorted[before] : null);
        }
    }
}
