using System.Buffers.Binary;
using Voron.Format;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees;

/// <summary>A walk through a range whose pages cannot be read continues when they can, and damaged branches end a count.</summary>
[Quick]
public sealed class RangeWalkTests
{
    private const int Entries = 3_000;

    [Theory]
    [InlineData(false, 0, long.MaxValue, false)]
    [InlineData(true, 0, long.MaxValue, false)]
    [InlineData(false, 700, 1_500, false)]
    [InlineData(true, 700, 1_500, false)]
    [InlineData(false, 700, 1_500, true)]
    [InlineData(true, 700, 1_500, true)]
    public void A_move_that_fails_can_be_repeated(bool isReversed, long skipped, long limit, bool changes)
    {
        using var tree = Fill();
        var slice = (isReversed ? RangeSlice.All.Reversed() : RangeSlice.All).Skipping(skipped).Taking(limit);
        var expected = Numbers(tree, slice, failEvery: 0, out _);
        Numbers(tree, slice, failEvery: 3, out var failures, changes).Should().Equal(expected);
        failures.Should().BeGreaterThan(20);
        expected.Should().HaveCount((int)slice.Count(Entries - 200));
    }

    [Theory]
    [InlineData(0, 5)]
    [InlineData(50, 200)]
    [InlineData(700, long.MaxValue)]
    public void A_turned_walk_that_fails_can_be_repeated(long skipped, long limit)
    {
        using var tree = Fill();
        var slice = RangeSlice.All.Skipping(skipped).Taking(limit).Reversed().Skipping(3);
        var expected = Numbers(tree, slice, failEvery: 0, out _);

        // A walk that begins with many pages must be able to read them before the first move succeeds.
        Numbers(tree, slice, failEvery: 200, out _).Should().Equal(expected);
        expected.Should().BeInDescendingOrder().And.HaveCount((int)slice.Count(Entries - 200));
    }

    [Fact]
    public void A_walk_reads_no_page_beyond_its_bounds_and_its_limit()
    {
        using var tree = Fill();
        var cursor = tree.OpenCursor();
        var walk = new RangeWalk(KeyBound.Before(Key(0)), KeyBound.Before(Key(3)));
        var limited = new RangeWalk(default, KeyBound.End);
        walk.Begin(cursor, RangeSlice.All).Should().BeTrue();
        tree.Pages.FailReadAfter = 0;
        for (var i = 1; i < 3; i++)
            walk.TryStep(cursor).Should().BeTrue();
        walk.TryStep(cursor).Should().BeFalse();
        walk.Continue(cursor).Should().BeFalse("the bound is in the same leaf, so no other leaf is read");
        tree.Pages.FailReadAfter = -1;
        limited.Begin(cursor, RangeSlice.All.Taking(2)).Should().BeTrue();
        tree.Pages.FailReadAfter = 0;
        limited.TryStep(cursor).Should().BeTrue();
        limited.TryStep(cursor).Should().BeFalse();
        limited.Continue(cursor).Should().BeFalse();
        tree.Pages.FailReadAfter = -1;
    }

    [Fact]
    public void A_count_reads_the_smaller_side_of_the_tree()
    {
        using var tree = Fill();
        foreach (var (start, end) in new[] { (0, 100), (100, Entries), (1, Entries - 1), (1_400, 1_500), (0, 2_990) })
        {
            // A third of the leaves would be too few for the larger side, and the paths to both ends need a few more.
            tree.Pages.FailReadAfter = (int)tree.State.LeafPages / 3;
            Count(tree, start, end).Should().Be(end - start);
        }

        tree.Pages.FailReadAfter = 0;
        RangeCounter.Count(tree.State, tree.Pages, default, KeyBound.End, long.MaxValue).Should().Be(Entries, "the header has that number");
        tree.Pages.FailReadAfter = 25;
        RangeCounter.Count(tree.State, tree.Pages, KeyBound.Before(Key(10)), KeyBound.End, 50).Should().BeGreaterThanOrEqualTo(50);
        tree.Pages.FailReadAfter = -1;
    }

    [Fact]
    public unsafe void A_count_of_branches_that_lead_to_each_other_ends()
    {
        using var tree = Fill();
        tree.State.Depth.Should().BeGreaterThanOrEqualTo(3);
        var root = tree.Pages.Damage(tree.State.Root);
        for (var i = 0; i < SlottedPage.Count(root); i++)
        {
            var branch = tree.Pages.Damage(BranchPage.Child(root, i));
            ((BranchRecordHeader*)SlottedPage.Record(root, i))->Child = BranchPage.Child(root, 0).Value;
            for (var j = 0; j < SlottedPage.Count(branch); j++)
                ((BranchRecordHeader*)SlottedPage.Record(branch, j))->Child = i % 2 == 0 ? BranchPage.Child(root, 0).Value : tree.State.Root.Value;
        }

        // The count descends to as many levels as the tree claims, and finds branches where leaves should be.
        FluentActions.Invoking(() => Count(tree, 10, 2_000)).Should().Throw<CorruptionException>();
    }

    [Fact]
    public unsafe void A_count_of_leaves_that_are_linked_again_and_again_ends()
    {
        using var tree = Fill();
        var root = tree.Pages.Damage(tree.State.Root);
        var leaves = tree.State.LeafPages;
        for (var i = 0; i < SlottedPage.Count(root); i++)
            ((BranchRecordHeader*)SlottedPage.Record(root, i))->Child = BranchPage.Child(root, 0).Value;
        tree.State.LeafPages = 5;
        FluentActions.Invoking(() => Count(tree, 10, 2_000)).Should().Throw<CorruptionException>().WithMessage("*more leaves than the 5*");
        tree.State.LeafPages = leaves;
    }

    /// <summary>Walks through all entries but the first hundred and the last, and repeats each move that fails.</summary>
    private static List<int> Numbers(TestTree tree, RangeSlice slice, int failEvery, out int failures, bool changes = false)
    {
        var cursor = tree.OpenCursor();
        var walk = new RangeWalk(KeyBound.Before(Key(100)), KeyBound.Before(Key(Entries - 100)));
        var numbers = new List<int>();
        var hasBegun = false;
        failures = 0;
        while (true)
        {
            if (!hasBegun || !walk.TryStep(cursor))
            {
                // Each call may read a few pages more than the last one that failed.
                var isFound = false;
                for (var reads = 0; ; reads++)
                {
                    tree.Pages.FailReadAfter = failEvery == 0 || reads % failEvery == failEvery - 1 ? -1 : reads % failEvery;
                    try
                    {
                        isFound = hasBegun ? walk.Continue(cursor) : walk.Begin(cursor, slice);
                        break;
                    }
                    catch (CorruptionException)
                    {
                        failures++;
                    }
                }

                tree.Pages.FailReadAfter = -1;
                hasBegun = true;
                if (!isFound)
                    return numbers;
            }

            numbers.Add(BinaryPrimitives.ReadInt32BigEndian(cursor.Key));
            if (changes && numbers.Count % 5 == 0)
                tree.Put(Key(0), new byte[500]);
        }
    }

    private static long Count(TestTree tree, int start, int end) =>
        RangeCounter.Count(tree.State, tree.Pages, KeyBound.Before(Key(start)), KeyBound.Before(Key(end)), long.MaxValue);

    private static TestTree Fill()
    {
        var tree = new TestTree();
        for (var i = 0; i < Entries; i++)
            tree.Put(Key(i), new byte[500]);
        return tree;
    }

    /// <summary>A long key, so that the tree has several levels.</summary>
    private static byte[] Key(int i)
    {
        var key = new byte[400];
        BinaryPrimitives.WriteInt32BigEndian(key, i);
        return key;
    }
}
