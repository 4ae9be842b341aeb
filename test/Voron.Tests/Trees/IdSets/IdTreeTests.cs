using Voron.Format;
using Voron.Trees;
using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Kinds;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.IdSets;

public sealed unsafe class IdTreeTests
{
    private static readonly byte[] Key = "key"u8.ToArray();

    [Theory]
    [InlineData(4096, 12_000, 11)]
    [InlineData(4096, 12_000, 12)]
    [InlineData(65536, 4_000, 13)]
    public void A_tree_of_sets_does_what_a_dictionary_of_sets_does(int pageSize, int steps, int seed)
    {
        var random = new Random(seed);
        using var tree = new TestIdTree(pageSize);
        for (var i = 0; i < steps; i++)
        {
            // Few keys have most of the ids, as in an index of words.
            var isGrowing = (i / (steps / 4) & 1) == 0;
            var key = KeyOf((int)(Math.Pow(random.NextDouble(), 4) * 400));
            if (random.Next(200) == 0)
                tree.RemoveAll(key);
            else
                tree.Apply(key, Changes(tree, key, random, isGrowing));
            if (random.Next(500) == 0)
                tree.DeleteRange(KeyOf(random.Next(400)), KeyOf(random.Next(400)));
            if (random.Next(100) == 0)
                tree.Pages.EndTransaction();
            else if (random.Next(300) == 0)
                tree.Pages.Savepoint();
            if (random.Next(steps / 15) == 0)
                tree.Check();
        }

        tree.Check();
        tree.Pages.EndTransaction();
        RangeRemoval.DeleteAll(tree.Pages, tree.State);
        tree.Model.Clear();
        tree.Check();
        tree.State.NestedPages.Should().Be(0);
    }

    [Fact]
    public void A_set_leaves_the_leaf_and_returns_without_alternating()
    {
        using var tree = new TestIdTree();
        var forms = new List<ExtendedForm>();
        for (var id = 0; id < 400; id++)
        {
            tree.Apply(Key, new IdChange(id * 10L, 0));
            Note(tree, forms);
        }

        forms.Should().Equal(ExtendedForm.OneId, ExtendedForm.FewIds, ExtendedForm.IdSet);
        forms.Clear();
        for (var id = 399; id > 0; id--)
        {
            tree.Apply(Key, new IdChange(id * 10L, IdChange.Removal));
            Note(tree, forms);
            if (id is 70 or 60)
                tree.State.NestedPages.Should().Be(id == 70 ? 1 : 0);
        }

        forms.Should().Equal(ExtendedForm.IdSet, ExtendedForm.FewIds, ExtendedForm.OneId);
        tree.Apply(Key, new IdChange(0, IdChange.Removal));
        tree.State.Root.IsNone.Should().BeTrue("a set without ids has no key");
        tree.Check();
    }

    [Fact]
    public void Changes_that_change_nothing_write_nothing()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, new IdChange(7, 3), new IdChange(9, 0));
        tree.Apply("large"u8.ToArray(), [.. Enumerable.Range(0, 1_000).Select(id => new IdChange(id * 5, 0))]);
        tree.Pages.EndTransaction();
        tree.Apply(Key, new IdChange(7, 3), new IdChange(8, IdChange.Removal));
        tree.Apply("none"u8.ToArray(), new IdChange(8, IdChange.Removal));
        tree.Apply("large"u8.ToArray(), new IdChange(8, IdChange.Removal), new IdChange(10, 0));
        tree.Pages.TouchedPages.Should().Be(0, "no page needs a version of its own");
        tree.Pages.EndTransaction();
        tree.Pages.ChangedBytes.Should().Be(0);
        tree.Check();
        tree.Apply("large"u8.ToArray(), new IdChange(10, 1));
        tree.Pages.TouchedPages.Should().Be(1, "the payload is stored in the page of the id, and the record does not change");
        tree.Check();
    }

    [Fact]
    public void The_largest_id_may_be_alone_in_the_last_page()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, [.. Enumerable.Range(0, 5 * 128 + 60).Select(id => new IdChange(id * (1L << 45), 0))]);
        var pages = tree.State.NestedPages;
        tree.Apply(Key, new IdChange(long.MaxValue, 0));
        tree.State.NestedPages.Should().Be(pages + 2, "the last page has no room for it");
        tree.Check();
        tree.Apply(Key, new IdChange(long.MaxValue, IdChange.Removal));
        tree.State.NestedPages.Should().Be(pages);
        tree.Check();
    }

    [Fact]
    public void A_change_of_a_set_that_keeps_its_size_finds_its_leaf_once()
    {
        using var tree = new TestIdTree();
        for (var key = 0; key < 500; key++)
            tree.Apply(KeyOf(key), [.. Enumerable.Range(0, key % 2 == 0 ? 1_000 : 20).Select(id => new IdChange(id * 5, 0))]);
        foreach (var key in new[] { 200, 201 })
        {
            tree.Pages.LeafReads = 0;
            IdTreeWriter.Apply(tree.Pages, tree.State, KeyOf(key), [new IdChange(50, 0), new IdChange(90, IdChange.Removal), new IdChange(91, 0)]);
            tree.Pages.LeafReads.Should().Be(1);
            tree.Expect(KeyOf(key), new IdChange(90, IdChange.Removal), new IdChange(91, 0));
        }

        tree.Check();
    }

    [Fact]
    public void Ids_below_zero_are_refused()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, new IdChange(5, 0));
        var change = () => IdTreeWriter.Apply(tree.Pages, tree.State, Key, [new IdChange(-1, 0)]);
        change.Should().Throw<ArgumentOutOfRangeException>();
        tree.Check();
    }

    [Fact]
    public void The_later_payload_stays()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, new IdChange(7, 3));
        tree.Apply(Key, new IdChange(7, 200));
        tree.Check();
    }

    [Fact]
    public void An_append_to_a_large_set_changes_few_bytes_of_leaf_and_page()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, [.. Enumerable.Range(0, 300).Select(id => new IdChange(id * 5, 0))]);
        tree.Pages.EndTransaction();
        var sum = 0;
        for (var id = 300; id < 2_300; id++)
        {
            tree.Apply(Key, new IdChange(id * 5, (short)(id % 3)));
            tree.Pages.EndTransaction();
            sum += tree.Pages.ChangedBytes;
        }

        (sum / 2_000.0).Should().BeLessThan(12);
    }

    [Fact]
    public void A_cut_frees_the_pages_of_sets_and_keeps_the_counts()
    {
        using var tree = new TestIdTree();
        var random = new Random(4);
        for (var key = 0; key < 300; key++)
        {
            var ids = Enumerable.Range(0, key % 3 == 0 ? 1_500 : 20).Select(id => id * 100_000L + random.Next(90_000));
            tree.Apply(KeyOf(key), [.. ids.Select(id => new IdChange(id, 0))]);
        }

        tree.Apply(KeyOf(150), [.. Enumerable.Range(0, 60_000).Select(id => new IdChange(id * 1_000_000L + random.Next(900_000), 0))]);
        while (!tree.State.Root.IsNone)
        {
            TreeCutter.Cut(tree.Pages, tree.State, 7).Should().BeInRange(1, 9, "large sets are freed in parts");
            tree.CheckStructure();
            tree.State.EntryCount.Should().BeLessThanOrEqualTo(tree.State.NestedValues);
        }

        tree.Pages.PagesInUse.Should().Be(0);
    }

    [Fact]
    public void A_large_set_is_checked_in_slices()
    {
        using var tree = new TestIdTree();
        tree.Apply("a"u8.ToArray(), [.. Enumerable.Range(0, 300).Select(id => new IdChange(id * 50L, 0))]);
        tree.Apply(Key, [.. Enumerable.Range(0, 250_000).Select(id => new IdChange(id * (1L << 44), (short)(id % 5)))]);
        tree.Apply("last"u8.ToArray(), [.. Enumerable.Range(0, 5_000).Select(id => new IdChange(id * 50L, 0))]);
        var problems = new List<string>();
        var check = new TreeCheck(tree.Pages, tree.Pages.PageLimit, problems.Add) { SlicePages = 5 };
        check.Run(tree.State.ToHeader()).Should().BeTrue(string.Join('\n', problems));
        check.Owned.Count.Should().Be((int)tree.Pages.PagesInUse);
        check.Slices.Should().BeGreaterThan((int)tree.Pages.PagesInUse / 7);
    }

    [Fact]
    public void A_set_that_changes_between_the_slices_of_its_check_raises_no_alarm()
    {
        var random = new Random(TestSeed.Choose());
        using var tree = new TestIdTree();
        for (var key = 0; key < 30; key++)
            tree.Apply(KeyOf(key), [.. Enumerable.Range(0, random.Next(1, 20_000)).Select(id => new IdChange(id * 1_000_000L, 0))]);
        var problems = new List<string>();
        var changes = 0;
        var check = new TreeCheck(tree.Pages, () => tree.Pages.PageLimit, problems.Add) { SlicePages = 5, CanOwnAgain = true };
        check.Walk(tree.State, () =>
        {
            var key = KeyOf(random.Next(30));
            if (random.Next(60) == 0)
                tree.RemoveAll(tree.Model.Keys.ElementAt(random.Next(tree.Model.Count)));
            else
                tree.Apply(key, Changes(tree, key, random, isGrowing: random.Next(2) == 0));
            changes++;
        });
        problems.Should().BeEmpty();
        changes.Should().BeGreaterThan(10);
    }

    [Fact]
    public void The_check_finds_what_is_wrong_with_a_set()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, [.. Enumerable.Range(0, 5_000).Select(id => new IdChange(id * 50L + id % 7, (short)(id % 5)))]);
        var reference = (IdSetReference*)LeafPage.InlineBytes(SlottedPage.Record(tree.Pages.Damage(tree.State.Root), 0));
        tree.CheckStructure();
        Expect(tree, "claims 4999 ids", () => reference->Ids--);
        Expect(tree, "up to page", () => reference->LastPage--);
        Expect(tree, "expects kind", () => reference->Depth--);
        var first = FirstIdPage(tree, *reference);
        Expect(tree, "claims payloads", () => IdPage.Entries(first)[1].HighestPayload--);
        Expect(tree, "is malformed", () => IdPage.Entries(first)[1].GapWidth = 63);
        Expect(tree, "has the marks", () => ((PageHeader*)first)->OwnerHash++);
        Expect(tree, "belongs behind", () => IdPage.Entries(first)[1].First += 60);
        tree.State.NestedValues--;
        tree.Problems(out _).Should().ContainSingle().Which.Should().Contain("4999 ids");
    }

    private static byte* FirstIdPage(TestIdTree tree, IdSetReference set)
    {
        var path = new IdSetPath();
        path.DescendToEdge(tree.Pages, ArrayLayout.OfBranches(4096), set, first: true);
        return tree.Pages.Damage(path.Leaf);
    }

    private static void Expect(TestIdTree tree, string problem, Action damage)
    {
        var pages = new List<byte[]>();
        for (var page = 1; page < tree.Pages.PageLimit; page++)
            pages.Add(new ReadOnlySpan<byte>(tree.Pages.Damage(new(page)), 4096).ToArray());
        damage();
        tree.Problems(out _).Should().Contain(it => it.Contains(problem, StringComparison.Ordinal), problem);
        for (var page = 0; page < pages.Count; page++)
            pages[page].CopyTo(new Span<byte>(tree.Pages.Damage(new(page + 1)), 4096));
        tree.CheckStructure();
    }

    private static void Note(TestIdTree tree, List<ExtendedForm> forms)
    {
        var form = *(ExtendedForm*)IdTreeReader.Find(tree.State, tree.Pages, Key, out _);
        if (forms.Count == 0 || forms[^1] != form)
            forms.Add(form);
    }

    private static byte[] KeyOf(int number) => System.Text.Encoding.UTF8.GetBytes($"word {number:0000}");

    private static IdChange[] Changes(TestIdTree tree, byte[] key, Random random, bool isGrowing)
    {
        var changes = new SortedDictionary<long, short>();
        var set = tree.Model.GetValueOrDefault(key);
        var count = random.Next(30) == 0 ? random.Next(1, 600) : random.Next(1, 4);
        for (var i = 0; i < count; i++)
        {
            var isRemoval = random.Next(100) < (isGrowing ? 20 : 80);
            var id = set != null && random.Next(2) == 0 ? set.Keys.ElementAt(random.Next(Math.Min(set.Count, 500))) : random.Next(200_000);
            if (random.Next(200) == 0)
                id = random.NextInt64();
            changes[id] = isRemoval ? IdChange.Removal : (short)random.Next(random.Next(10) == 0 ? 256 : 2);
        }

        return [.. changes.Select(change => new IdChange(change.Key, change.Value))];
    }
}
