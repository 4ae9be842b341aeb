using Voron.Format;
using Voron.Primitives;
using Voron.Trees.Arrays;
using Voron.Trees.IdSets;

namespace Voron.Tests.Trees.IdSets;

/// <summary>Sets whose pages pass every check of a single page, but do not belong together: every call ends, and changes nothing else.</summary>
public sealed unsafe class IdSetDamageTests
{
    private const int ReadBudget = 100_000;

    private delegate void Forgery(byte* page, Random random);

    [Fact]
    public void A_seek_finds_no_id_below_the_one_that_is_sought()
    {
        using var set = new TestIdSet();
        set.Apply([.. Enumerable.Range(0, 100_000).Select(i => new IdChange(i / 128 * 1_000_000L + i % 128, 0))]);
        var second = SecondChild(set, out var key);
        IdPage.Entries(second)[0].First = key - 500_000;
        set.Pages.FailReadAfter = ReadBudget;
        set.OpenCursor().Invoking(it => it.Seek(key - 1)).Should().Throw<CorruptionException>().WithMessage("*ids that*");
        using var other = new TestIdSet();
        other.Apply(new IdChange(key - 1, 0), new IdChange(key + 64, 0));
        var query = IdQueryNode.And(new IdQueryNode(set.OpenCursor()), new IdQueryNode(other.OpenCursor()));
        query.Invoking(it => it.Fill(new long[10])).Should().Throw<CorruptionException>().WithMessage("*ids that*");
        set.Pages.FailReadAfter.Should().BePositive("no call may go round in circles");
    }

    [Fact]
    public void Queries_over_forged_pages_end()
    {
        var random = new Random(TestSeed.Choose());
        for (var round = 0; round < 300; round++)
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
