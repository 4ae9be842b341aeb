using Voron.Format;
using Voron.Primitives;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees;

/// <summary>Ranges of keys are removed as a whole: what remains, what is freed, and which leaves are read.</summary>
public sealed class RangeRemovalTests
{
    private const int Entries = 48;

    /// <summary>Long keys make a deep tree of few entries, so that every pair of bounds can be tried.</summary>
    [Theory]
    [InlineData(900, false, 1)]
    [InlineData(900, true, 2)]
    [InlineData(400, false, 3)]
    [InlineData(300, true, 4)]
    public void Every_range_of_a_small_tree_is_removed_and_nothing_else(int keyLength, bool hasOverflow, int seed)
    {
        for (var first = 0; first <= 2 * Entries; first++)
        {
            for (var last = first; last <= 2 * Entries + 1; last += 1 + (last % 3))
            {
                using var tree = Fill(keyLength, hasOverflow, seed);
                tree.State.Depth.Should().BeGreaterThanOrEqualTo(keyLength == 900 ? 3 : 2);

                // Even numbers are keys of the tree, odd ones are between them.
                tree.DeleteRange(first == 0 ? null : Key(first, keyLength), last > 2 * Entries ? null : Key(last, keyLength));
                tree.Check();
                tree.Pages.EndTransaction();
                tree.Put(Key(first, keyLength), [1]);
                tree.CheckStructure();
            }
        }
    }

    [Fact]
    public void A_range_without_entries_changes_nothing()
    {
        using var tree = Fill(400, hasOverflow: true, seed: 1);
        tree.Pages.EndTransaction();
        tree.State.Changed = false;
        var changes = tree.State.ChangeCount;
        foreach (var (from, to) in new[] { (5, 6), (5, 5), (6, 6), (7, 5), (2 * Entries, 3 * Entries) })
            tree.DeleteRange(Key(from, 400), Key(to, 400)).Should().Be(0);
        tree.DeleteRange(null, Key(0, 400)).Should().Be(0);
        tree.State.ChangeCount.Should().Be(changes);
        tree.State.Changed.Should().BeFalse();
        tree.Pages.TouchedPages.Should().Be(0);
        tree.Check();
    }

    [Fact]
    public void A_tree_of_one_leaf_loses_its_first_and_last_entries()
    {
        using var tree = new TestTree();
        for (byte i = 1; i <= 6; i++)
            tree.Put([i], [i]);
        tree.DeleteRange([2], [4]).Should().Be(2);
        tree.DeleteRange(null, [2]).Should().Be(1);
        tree.DeleteRange([6], null).Should().Be(1);
        tree.Check();
        tree.DeleteRange([0], null).Should().Be(2);
        tree.State.Root.IsNone.Should().BeTrue();
        tree.Pages.PagesInUse.Should().Be(0);
        tree.DeleteRange(null, null).Should().Be(0);
        tree.Check();
    }

    [Fact]
    public void Bounds_may_be_keys_of_pages_that_the_removal_changes_and_frees()
    {
        using var tree = Fill(400, hasOverflow: true, seed: 1);
        var cursor = tree.OpenCursor();
        cursor.Seek(Key(6, 400));
        var last = tree.OpenCursor();
        last.Seek(Key(60, 400));
        RangeRemoval.Delete(tree.Pages, tree.State, KeyBound.Before(cursor.Key), KeyBound.After(last.Key)).Should().Be(28);
        for (var i = 6; i <= 60; i += 2)
            tree.Model.Remove(Key(i, 400));
        tree.Check();
        cursor.Close();
        last.Close();
    }

    [Theory]
    [InlineData(1)]
    [InlineData(100_000)]
    public void Bounds_may_be_longer_than_any_key(int extra)
    {
        using var tree = Fill(400, hasOverflow: false, seed: 1);
        byte[] from = [.. Key(6, 400), .. new byte[extra]];
        byte[] to = [.. Key(10, 400), .. new byte[extra]];
        tree.DeleteRange(from, to).Should().Be(2);
        tree.Check();
    }

    [Fact]
    public void Cursors_keep_their_places()
    {
        using var tree = Fill(900, hasOverflow: false, seed: 1);
        var cursors = Enumerable.Range(0, Entries).Select(i =>
        {
            var cursor = tree.OpenCursor();
            cursor.SeekExact(Key(2 * i, 900)).Should().BeTrue();
            return cursor;
        }).ToList();
        tree.DeleteRange(Key(20, 900), Key(61, 900)).Should().Be(21);
        for (var i = 0; i < Entries; i++)
        {
            var isGone = i is >= 10 and <= 30;
            cursors[i].IsOnEntry.Should().Be(!isGone);
            if (i % 2 == 0)
            {
                cursors[i].MoveNext().Should().Be(i != Entries - 1);
                if (i != Entries - 1)
                    cursors[i].Key.SequenceEqual(Key(isGone ? 62 : 2 * i + 2, 900)).Should().BeTrue();
            }
            else
            {
                cursors[i].MovePrevious().Should().BeTrue();
                cursors[i].Key.SequenceEqual(Key(isGone || i == 31 ? 18 : 2 * i - 2, 900)).Should().BeTrue();
            }

            cursors[i].Close();
        }
    }

    [Fact]
    public void Leaves_are_read_only_on_the_side_that_has_fewer_of_them()
    {
        using var tree = Numbers(100_000, overflowEvery: 0);
        var leaves = (int)tree.State.LeafPages;
        leaves.Should().BeGreaterThan(1_000);

        tree.Pages.LeafReads = 0;
        tree.DeleteRange(Number(50_000), Number(60_000)).Should().Be(10_000);
        tree.Pages.LeafReads.Should().BeInRange(leaves / 10 - 5, leaves / 10 + 15);

        tree.Pages.LeafReads = 0;
        tree.DeleteRange(Number(500), Number(99_500)).Should().Be(89_000);
        tree.Pages.LeafReads.Should().BeLessThan(leaves / 100 + 15);
        tree.Check();

        tree.Pages.LeafReads = 0;
        tree.DeleteRange(null, null).Should().Be(1_000);
        tree.Pages.LeafReads.Should().Be(0);
        tree.Pages.PagesInUse.Should().Be(0);
    }

    [Fact]
    public void A_tree_with_values_in_pages_of_their_own_has_its_freed_leaves_read()
    {
        using var tree = Numbers(20_000, overflowEvery: 500);
        var leaves = (int)tree.State.LeafPages;
        tree.Pages.LeafReads = 0;
        tree.DeleteRange(Number(100), Number(19_900)).Should().Be(19_800);
        tree.Pages.LeafReads.Should().BeInRange(leaves * 98 / 100, leaves + 15);
        tree.Check();
        tree.DeleteRange(null, null).Should().Be(200);
        tree.Pages.PagesInUse.Should().Be(0);
        tree.State.OverflowPages.Should().Be(0);
    }

    [Fact]
    public void Only_the_pages_at_the_edges_of_a_range_are_changed()
    {
        using var tree = Numbers(100_000, overflowEvery: 0);
        tree.Pages.EndTransaction();
        tree.DeleteRange(Number(1_234), Number(98_765));
        tree.Pages.TouchedPages.Should().BeLessThanOrEqualTo(4 * tree.State.Depth);
        tree.Check();
    }

    /// <summary>What remains beside a range is merged: many ranges do not leave a chain of nearly empty pages behind.</summary>
    [Fact]
    public void Pages_that_are_nearly_empty_are_merged()
    {
        using var tree = Numbers(50_000, overflowEvery: 0);
        for (var i = 0; i < 50_000; i += 500)
            tree.DeleteRange(Number(i), Number(i + 499));
        tree.State.EntryCount.Should().Be(100);
        tree.State.LeafPages.Should().BeLessThan(10);
        tree.State.BranchPages.Should().BeLessThan(3);
        tree.Check();
    }

    [Theory]
    [InlineData(20, 100_000)]
    [InlineData(0, 99_980)]
    [InlineData(10, 99_990)]
    public void A_tree_of_few_remaining_entries_has_one_page(int from, int to)
    {
        using var tree = Numbers(100_000, overflowEvery: 0);
        tree.State.Depth.Should().Be(3);
        tree.DeleteRange(from == 0 ? null : Number(from), to == 100_000 ? null : Number(to));
        tree.State.EntryCount.Should().Be(20);
        tree.State.Depth.Should().Be(1);
        tree.Pages.PagesInUse.Should().Be(1);
        tree.Check();
    }

    /// <summary>Four entries fill a leaf. Only the leaf at the end of the range is nearly empty, and only its other neighbour has room.</summary>
    [Fact]
    public void The_page_at_the_end_of_a_range_is_merged_too()
    {
        using var tree = new TestTree();
        for (var i = 0; i < 16; i++)
            tree.Put(Number(i), new byte[980]);
        tree.State.LeafPages.Should().Be(4);
        tree.Delete(Number(14));
        tree.Delete(Number(15));
        tree.State.LeafPages.Should().Be(4);
        tree.DeleteRange(Number(4), Number(11)).Should().Be(7);
        tree.State.LeafPages.Should().Be(2);
        tree.Check();
    }

    [Fact]
    public void A_branch_that_is_its_own_descendant_is_reported()
    {
        using var tree = Fill(900, hasOverflow: false, seed: 1);
        tree.Pages.EndTransaction();
        Assert.Throws<CorruptionException>(() => DeleteWithCycle(tree)).Message.Should().Contain("is linked to a tree twice");
    }

    /// <summary>Each branch has one child, many times. The walk ends at the first page that is freed again, not after ages.</summary>
    [Fact]
    public void Branches_that_share_their_children_are_reported()
    {
        using var tree = Numbers(100_000, overflowEvery: 0);
        tree.Pages.EndTransaction();
        ShareChildren(tree, tree.State.Root, tree.State.Depth - 1);
        Assert.Throws<CorruptionException>(() => RangeRemoval.Delete(tree.Pages, tree.State, KeyBound.After([0]), KeyBound.End))
            .Message.Should().Contain("is not in use");
    }

    [Fact]
    public void A_tree_that_claims_too_few_entries_is_reported()
    {
        using var tree = Numbers(1_000, overflowEvery: 0);
        tree.Pages.EndTransaction();
        tree.State.EntryCount = 10;
        DeleteTooMany(tree);
        tree.Pages.TouchedPages.Should().Be(0);

        // Here the entries are counted when they are removed.
        using var other = Numbers(1_000, overflowEvery: 500);
        other.State.EntryCount = 10;
        DeleteTooMany(other);
    }

    private static void DeleteTooMany(TestTree tree)
    {
        var delete = () => RangeRemoval.Delete(tree.Pages, tree.State, KeyBound.Before(Number(10)), KeyBound.Before(Number(100)));
        Assert.Throws<CorruptionException>(() => delete()).Message.Should().Contain("another number of entries than the 10 that it claims");
    }

    private static unsafe void ShareChildren(TestTree tree, PageNumber page, int levels)
    {
        if (levels == 0)
            return;
        var branch = tree.Pages.Damage(page);
        var child = BranchPage.Child(branch, 0);
        for (var i = 1; i < SlottedPage.Count(branch); i++)
            ((BranchRecordHeader*)SlottedPage.Record(branch, i))->Child = child.Value;
        ShareChildren(tree, child, levels - 1);
    }

    private static unsafe void DeleteWithCycle(TestTree tree)
    {
        var root = tree.State.Root;
        var child = BranchPage.Child(tree.Pages.Damage(root), 1);
        var branch = tree.Pages.Damage(child);
        ((BranchRecordHeader*)SlottedPage.Record(branch, 1))->Child = root.Value;
        RangeRemoval.DeleteAll(tree.Pages, tree.State);
    }

    private static TestTree Fill(int keyLength, bool hasOverflow, int seed)
    {
        var tree = new TestTree();
        var random = new Random(seed);
        foreach (var i in Enumerable.Range(0, Entries).OrderBy(_ => random.Next()))
            tree.Put(Key(2 * i, keyLength), new byte[hasOverflow && i % 5 == 0 ? 9_000 : random.Next(200)]);
        return tree;
    }

    private static TestTree Numbers(int count, int overflowEvery)
    {
        var tree = new TestTree();
        for (var i = 0; i < count; i++)
            tree.Put(Number(i), new byte[overflowEvery > 0 && i % overflowEvery == 0 ? 5_000 : 60]);
        return tree;
    }

    private static byte[] Number(int number)
    {
        var key = new KeyWriter(new byte[4]);
        return key.Add((uint)number).Written.ToArray();
    }

    // The number is at the end, so that separators are long too.
    private static byte[] Key(int number, int length)
    {
        var key = new byte[length];
        key.AsSpan().Fill((byte)'k');
        key[^2] = (byte)(number >> 8);
        key[^1] = (byte)number;
        return key;
    }
}
