using Voron.Format;
using Voron.Primitives;
using Voron.Trees;
using Voron.Trees.IdSets;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Kinds;
using Voron.Trees.Pages;

namespace Voron.Tests.Trees.IdSets;

/// <summary>Sets whose pages pass every check of a single page, but do not belong together: every call ends, and changes nothing else.</summary>
public sealed unsafe class IdSetDamageTests
{
    private const int ReadBudget = 100_000;
    private static readonly byte[] Key = "key"u8.ToArray();

    private delegate void Forgery(byte* page, Random random);

    [Fact]
    public void A_seek_finds_no_id_below_the_one_that_is_sought()
    {
        using var set = new TestIdSet();
        set.Apply([.. Enumerable.Range(0, 100_000).Select(i => new IdChange(i / 128 * 1_000_000L + i % 128, 0))]);
        var second = SecondChild(set, out var key);
        IdPage.Entries(second)[0].First = key - 500_000;
        set.Pages.FailReadAfter = ReadBudget;
        set.OpenCursor().Invoking(it => it.Seek(key - 1)).Should().Throw<CorruptionException>().WithMessage("*ids outside that range*");
        using var other = new TestIdSet();
        other.Apply(new IdChange(key - 1, 0), new IdChange(key + 64, 0));
        var query = IdQueryNode.And(new IdQueryNode(set.OpenCursor()), new IdQueryNode(other.OpenCursor()));
        query.Invoking(it => it.Fill(new long[10])).Should().Throw<CorruptionException>().WithMessage("*ids outside that range*");
        set.Pages.FailReadAfter.Should().BePositive("no call may go round in circles");
    }

    [Fact]
    public void Queries_over_forged_pages_end()
    {
        var random = new Random(TestSeed.Choose());
        for (var round = 0; round < SuiteShare.Rounds(300); round++)
        {
            using var set = MakeForged(random);
            using var other = new TestIdSet();
            other.Apply([.. Enumerable.Range(0, 3_000).Select(i => new IdChange(i * 17_000L + random.Next(9_000), 0))]);
            set.Pages.FailReadAfter = ReadBudget;
            Drain(IdQueryNode.And(Query(set), Query(other)));
            Drain(IdQueryNode.AndNot(Query(other), Query(set)));
            Drain(IdQueryNode.AndNot(Query(set), Query(other)));
            Drain(IdQueryNode.Or(Query(set), Query(other)));
            SeekAnywhere(set, random);
            set.Pages.FailReadAfter.Should().BePositive("no query may go round in circles");
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void A_change_of_a_page_of_another_set_is_refused(bool isOtherTree)
    {
        // The page is changed inside, divided, merged with its neighbour, emptied.
        foreach (var changes in new IdChange[][]
        {
            [new IdChange(1_000_001, 0)],
            [.. Enumerable.Range(0, 3_000).Select(i => new IdChange(1_000_000 + i * 7L, 0))],
            [.. Enumerable.Range(0, 2_000).Select(i => new IdChange(i * 1_000L, IdChange.Removal))],
            [.. Enumerable.Range(0, 90_000).Select(i => new IdChange(i * 1_000L, IdChange.Removal))],
        })
        {
            using var tree = MakeTree();
            Mark(IdPageOf(tree, 1_000_000), isOtherTree);
            Refused(() => IdTreeWriter.Apply(tree.Pages, tree.State, Key, changes));
        }
    }

    [Fact]
    public void Freeing_and_moving_a_page_of_another_set_are_refused()
    {
        using var tree = MakeTree();
        Mark(IdPageOf(tree, 90_000_000), isOtherTree: false);
        Refused(() => TreeWriter.Delete(tree.Pages, tree.State, Key));
        using var second = MakeTree();
        Mark(IdPageOf(second, 90_000_000), isOtherTree: false);
        Refused(() => TreeMover.TryMoveExtent(second.Pages, second.State, Key, new FakeMover(second.Pages, 1)));
        using var third = MakeTree();
        Mark(third.Pages.Damage(new PageNumber(ReferenceOf(third)->Root)), isOtherTree: false);
        Refused(() => TreeMover.TryMoveExtent(third.Pages, third.State, Key, new FakeMover(third.Pages, 1)));
    }

    [Fact]
    public void A_branch_of_another_set_is_not_changed()
    {
        using var tree = MakeTree();
        Mark(tree.Pages.Damage(new PageNumber(ReferenceOf(tree)->Root)), isOtherTree: false);
        Refused(() => tree.Apply(Key, [.. Enumerable.Range(0, 5_000).Select(i => new IdChange(1_000_000 + i * 7L, 0))]));
    }

    [Fact]
    public void A_branch_is_not_merged_with_itself()
    {
        using var tree = new TestIdTree();
        tree.Apply(Key, [.. Enumerable.Range(0, 200_000).Select(i => new IdChange(i * (1L << 45), 0))]);
        ReferenceOf(tree)->Depth.Should().Be(3);
        var root = tree.Pages.Damage(new PageNumber(ReferenceOf(tree)->Root));
        var layout = ArrayLayout.OfBranches(4096);
        *(uint*)ArrayPage.Value(root, layout, 1) = *(uint*)ArrayPage.Value(root, layout, 0);
        Refused(() =>
        {
            foreach (var some in tree.Model[Key].Keys.Chunk(1_000))
                IdTreeWriter.Apply(tree.Pages, tree.State, Key, [.. some.Select(id => new IdChange(id, IdChange.Removal))]);
        });
    }

    [Fact]
    public void Ids_that_do_not_rise_from_page_to_page_are_not_taken_into_the_leaf()
    {
        using var set = new TestIdSet();
        set.Apply([.. Enumerable.Range(0, 1_000).Select(i => new IdChange(i * (1L << 45), 0))]);
        set.Set.Pages.Should().Be(3);
        IdPage.Entries(SecondChild(set, out _))[0].First = 5;
        Refused(() =>
        {
            var ids = stackalloc long[2_000];
            var payloads = stackalloc byte[2_000];
            IdSetReader.ReadAll(set.Pages, set.Set, ids, payloads, 1_500);
        });
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_set_that_claims_more_than_its_tree_has_is_not_freed(bool isTooManyIds)
    {
        using var tree = MakeTree();
        if (isTooManyIds)
            ReferenceOf(tree)->Ids++;
        else
            ReferenceOf(tree)->Pages++;
        Refused(() => TreeWriter.Delete(tree.Pages, tree.State, Key));
        Refused(() => tree.Apply(Key, new IdChange(3, 0)));
    }

    [Fact]
    public void A_set_that_claims_more_pages_than_the_file_has_is_refused()
    {
        using var tree = MakeTree();
        ReferenceOf(tree)->Pages = uint.MaxValue;
        tree.State.NestedPages = uint.MaxValue;
        Refused(() => IdSetReader.HasPagesFrom(tree.Pages, *ReferenceOf(tree), long.MaxValue, out _));
        Refused(() => TreeMover.TryMoveExtent(tree.Pages, tree.State, Key, new FakeMover(tree.Pages, 1_000_000)));
        Refused(() => TreeWriter.Delete(tree.Pages, tree.State, Key));
    }

    private static TestIdTree MakeTree()
    {
        var tree = new TestIdTree();
        tree.Apply(Key, [.. Enumerable.Range(0, 100_000).Select(i => new IdChange(i * 1_000L, (short)(i % 5)))]);
        tree.Pages.EndTransaction();
        return tree;
    }

    private static IdSetReference* ReferenceOf(TestIdTree tree) =>
        (IdSetReference*)LeafPage.InlineBytes(SlottedPage.Record(tree.Pages.Damage(tree.State.Root), 0));

    private static byte* IdPageOf(TestIdTree tree, long id)
    {
        var path = new IdSetPath();
        path.Descend(tree.Pages, ArrayLayout.OfBranches(4096), *ReferenceOf(tree), id);
        return tree.Pages.Damage(path.Leaf);
    }

    private static void Mark(byte* page, bool isOtherTree)
    {
        var header = (PageHeader*)page;
        var hash = header->OwnerHash;
        header->TreeMark = isOtherTree ? 99 : header->TreeMark;
        header->OwnerHash = isOtherTree ? hash : hash + 1;
    }

    private static void Refused(Action change) => change.Should().Throw<CorruptionException>();

    private static IdQueryNode Query(TestIdSet set) => new(set.OpenCursor());

    private static byte* SecondChild(TestIdSet set, out long key)
    {
        var layout = ArrayLayout.OfBranches(4096);
        var root = set.Pages.Damage(new PageNumber(set.Set.Root));
        key = ArrayPage.Key(root, layout, 1);
        return set.Pages.Damage(ArrayPage.Child(root, layout, 1));
    }

    private static TestIdSet MakeForged(Random random)
    {
        var set = new TestIdSet();
        set.Apply([.. Enumerable.Range(0, 40_000).Select(i => new IdChange(i * 1_200L + random.Next(1_000), 0))]);
        var forgeries = new Forgery[] { ForgeBlock, ForgeBranch, SwapChildren };
        var root = set.Pages.Damage(new PageNumber(set.Set.Root));
        for (var i = random.Next(1, 4); i > 0; i--)
        {
            var child = ArrayPage.Child(root, ArrayLayout.OfBranches(4096), random.Next(ArrayPage.Count(root)));
            var forgery = random.Next(forgeries.Length);
            forgeries[forgery](forgery == 0 ? set.Pages.Damage(child) : root, random);
        }

        return set;
    }

    private static void ForgeBlock(byte* page, Random random)
    {
        var entries = IdPage.Entries(page);
        var block = random.Next(3) == 0 ? random.Next(IdPage.Count(page)) : random.Next(2) * (IdPage.Count(page) - 1);
        var old = entries[block].First;
        entries[block].First = random.NextInt64(50_000_000);
        if (PageStructure.FindFault(page, 1, ((PageHeader*)page)->PageNumber, 4096) != null)
            entries[block].First = old;
    }

    private static void ForgeBranch(byte* branch, Random random)
    {
        var layout = ArrayLayout.OfBranches(4096);
        var index = random.Next(1, ArrayPage.Count(branch));
        var below = ArrayPage.Key(branch, layout, index - 1);
        var above = index + 1 < ArrayPage.Count(branch) ? ArrayPage.Key(branch, layout, index + 1) : long.MaxValue;
        var key = Math.Clamp(random.NextInt64(50_000_000), Math.Max(below, -1) + 1, above - 1);
        *(long*)(branch + layout.KeysStart + index * sizeof(long)) = key;
    }

    private static void SwapChildren(byte* branch, Random random)
    {
        var layout = ArrayLayout.OfBranches(4096);
        var left = (uint*)ArrayPage.Value(branch, layout, random.Next(ArrayPage.Count(branch)));
        var right = (uint*)ArrayPage.Value(branch, layout, random.Next(ArrayPage.Count(branch)));
        (*left, *right) = random.Next(2) == 0 ? (*right, *left) : (*right, *right);
    }

    private static void Drain(IdQueryNode query)
    {
        try
        {
            for (var last = -1L; query.MoveNext(); last = query.Current)
            {
                if (query.Current <= last)
                    throw new InvalidOperationException($"{query.Current} follows {last}");
            }
        }
        catch (CorruptionException)
        {
            // The forgery was met.
        }
    }

    private static void SeekAnywhere(TestIdSet set, Random random)
    {
        var cursor = set.OpenCursor();
        for (var i = 0; i < 200; i++)
        {
            var id = random.NextInt64(50_000_000);
            try
            {
                if (cursor.Seek(id) && cursor.Current < id)
                    throw new InvalidOperationException($"{id} was sought, and {cursor.Current} found");
            }
            catch (CorruptionException)
            {
                // The forgery was met.
            }
        }
    }
}
