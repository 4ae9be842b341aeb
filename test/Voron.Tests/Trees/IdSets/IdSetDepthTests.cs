using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;

namespace Voron.Tests.Trees.IdSets;

/// <summary>Changes sets of three levels, whose ids are so far apart that few of them fit into a page.</summary>
public sealed class IdSetDepthTests
{
    private const int Ids = 330_000;
    private const long Distance = 1L << 44;
    private static readonly byte[] Key = "key"u8.ToArray();
    private int _changes;

    [Theory]
    [InlineData(true, 1)]
    [InlineData(false, 2)]
    [InlineData(false, 3)]
    public void A_set_of_three_levels_stays_sound_wherever_ids_come_and_go(bool isAppended, int seed)
    {
        var random = new Random(seed);
        using var tree = new TestIdTree();
        Fill(tree, isAppended, random);
        DepthOf(tree).Should().Be(3);
        tree.Check();

        RemoveLowest(tree, random, left: 100_000);
        tree.Check();
        AddBelow(tree, random);
        RemoveMiddle(tree, random);
        AddAnywhere(tree, random);
        tree.Check();
        RemoveHighest(tree, random);
        AddBelow(tree, random);
        tree.Check();
        Apply(tree, [.. tree.Model[Key].Keys.Select(id => new IdChange(id, IdChange.Removal))]);
        tree.State.Root.IsNone.Should().BeTrue();
        tree.Pages.PagesInUse.Should().Be(0);
    }

    private static void Fill(TestIdTree tree, bool isAppended, Random random)
    {
        var ids = Enumerable.Range(1, Ids).Select(i => i * Distance + random.Next(1 << 30)).ToArray();
        if (!isAppended)
            random.Shuffle(ids);
        foreach (var some in ids.Chunk(isAppended ? 2_000 : 20_000))
            Apply(tree, [.. some.Order().Select(id => new IdChange(id, 0))]);
    }

    // Ids are added below the lowest one in between: they belong to the page that has become the first one.
    private void RemoveLowest(TestIdTree tree, Random random, int left)
    {
        while (tree.Model[Key].Count > left)
        {
            Apply(tree, [.. tree.Model[Key].Keys.Take(random.Next(128, 1_000)).Select(id => new IdChange(id, IdChange.Removal))]);
            CheckStructure(tree);
            var lowest = tree.Model[Key].Keys.First();
            if (random.Next(3) == 0)
                Apply(tree, [.. Enumerable.Range(-6, 6).Select(i => new IdChange(lowest + i * 1_000L, 1))]);
            CheckStructure(tree);
        }
    }

    private void RemoveMiddle(TestIdTree tree, Random random)
    {
        var all = tree.Model[Key].Keys.ToArray();
        for (var first = all.Length / 3; first < all.Length / 3 * 2;)
        {
            var count = random.Next(128, 1_000);
            Apply(tree, [.. all.AsSpan(first, count).ToArray().Select(id => new IdChange(id, IdChange.Removal))]);
            CheckStructure(tree);
            first += count;
        }
    }

    private void RemoveHighest(TestIdTree tree, Random random)
    {
        var all = tree.Model[Key].Keys.ToArray();
        for (var end = all.Length; end > all.Length / 2;)
        {
            var count = random.Next(128, 2_000);
            Apply(tree, [.. all.AsSpan(end - count, count).ToArray().Select(id => new IdChange(id, IdChange.Removal))]);
            end -= count;
            CheckStructure(tree);
        }
    }

    private void AddBelow(TestIdTree tree, Random random)
    {
        for (var batch = 0; batch < 20; batch++)
        {
            var lowest = tree.Model[Key].Keys.First();
            Apply(tree, [.. Enumerable.Range(-128, 128).Select(i => new IdChange(lowest + i * 1_000L - random.Next(900), 0))]);
            CheckStructure(tree);
        }
    }

    private void AddAnywhere(TestIdTree tree, Random random)
    {
        for (var batch = 0; batch < 60; batch++)
        {
            var ids = Enumerable.Range(0, 1_000).Select(_ => random.NextInt64(Ids * Distance));
            Apply(tree, [.. ids.Distinct().Order().Select(id => new IdChange(id, (short)random.Next(3)))]);
            CheckStructure(tree);
        }
    }

    private static void Apply(TestIdTree tree, IdChange[] changes)
    {
        tree.Apply(Key, changes);
        tree.Pages.EndTransaction();
    }

    private void CheckStructure(TestIdTree tree)
    {
        if (_changes++ % SuiteShare.Step(20) != 0)
            return;
        if (tree.Problems(out var owned) is [var problem, ..])
            throw new InvalidOperationException(problem);
        if (owned != tree.Pages.PagesInUse)
            throw new InvalidOperationException($"the tree owns {owned} of {tree.Pages.PagesInUse} pages");
    }

    private static unsafe int DepthOf(TestIdTree tree) =>
        ((Voron.Format.IdSetReference*)IdTreeReader.Find(tree.State, tree.Pages, Key, out _))->Depth;
}
