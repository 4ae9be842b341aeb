using Voron.Trees.IdSets.Pages;

namespace Voron.Tests.Trees.IdSets;

[Quick]
public sealed class IdQueryNodeTests
{
    [Fact]
    public void Queries_find_what_operations_on_sorted_sets_find()
    {
        var random = new Random(TestSeed.Choose());
        for (var round = 0; round < SuiteShare.Rounds(60); round++)
        {
            var sets = new List<TestIdSet>();
            var query = Make(random, sets, depth: 0, out var expected);
            Read(query, random).Should().Equal(expected);
            query.MoveNext().Should().BeFalse();
            query.Seek(0).Should().BeFalse();
            foreach (var set in sets)
                set.Dispose();
        }
    }

    [Fact]
    public void The_largest_id_ends_a_query()
    {
        using var set = new TestIdSet();
        set.Apply(new IdChange(3, 0), new IdChange(long.MaxValue, 0));
        using var other = new TestIdSet();
        other.Apply(new IdChange(long.MaxValue, 0));
        Read(IdQueryNode.AndNot(Query(set), Query(other)), new Random(1)).Should().Equal(3);
        Read(IdQueryNode.And(Query(set), Query(other)), new Random(1)).Should().Equal(long.MaxValue);
        Read(IdQueryNode.Or(Query(set), Query(other)), new Random(1)).Should().Equal(3, long.MaxValue);
        Read(IdQueryNode.Or(new IdQueryNode(null), new IdQueryNode(null)), new Random(1)).Should().BeEmpty();
    }

    [Fact]
    public void A_fill_begins_with_the_id_that_was_sought()
    {
        using var set = new TestIdSet();
        set.Apply([.. Enumerable.Range(0, 500).Select(id => new IdChange(id * 2, 0))]);
        var ids = new long[3];
        foreach (var query in new[] { Query(set), IdQueryNode.And(Query(set)), IdQueryNode.Or(Query(set), Query(set)) })
        {
            query.Seek(101).Should().BeTrue();
            query.Fill([]).Should().Be(0);
            query.Fill(ids).Should().Be(3);
            ids.Should().Equal(102, 104, 106);
            query.Fill(ids).Should().Be(3);
            ids.Should().Equal(108, 110, 112);
            query.Seek(3).Should().BeTrue("a query does not go back");
            query.Current.Should().Be(112);
            query.Seek(200).Should().BeTrue();
            query.MoveNext().Should().BeTrue();
            query.Fill(ids).Should().Be(3);
            ids.Should().Equal(204, 206, 208);
            query.Seek(2_000).Should().BeFalse();
            query.Fill(ids).Should().Be(0);
        }
    }

    [Fact]
    public void A_query_that_has_failed_continues_where_it_was()
    {
        using var set = new TestIdSet();
        set.Apply([.. Enumerable.Range(0, 50_000).Select(id => new IdChange(5 + id * 100, 0))]);
        using var other = new TestIdSet();
        other.Apply([.. Enumerable.Range(0, 10).Select(id => new IdChange(5 + id * 100, 0))]);
        foreach (var make in new Func<IdQueryNode>[]
        {
            () => Query(set),
            () => IdQueryNode.And(Query(set), Query(set)),
            () => IdQueryNode.Or(Query(set), Query(other)),
            () => IdQueryNode.AndNot(Query(set), Query(other)),
        })
        {
            var query = make();
            set.Pages.FailReadAfter = 0;
            query.Invoking(it => it.Seek(0)).Should().Throw<CorruptionException>();
            set.Pages.FailReadAfter = -1;
            query.Seek(0).Should().BeTrue();
            var first = query.Current;
            first.Should().BeOneOf(5, 1_005);
            set.Pages.FailReadAfter = 1;
            query.Invoking(it => it.Seek(4_900_000)).Should().Throw<CorruptionException>();
            set.Pages.FailReadAfter = -1;
            query.Current.Should().Be(first);
            query.Seek(4_900_000).Should().BeTrue();
            query.Current.Should().Be(4_900_005);
        }
    }

    [Fact]
    public void Queries_without_operands_are_told_apart()
    {
        IdQueryNode.Or().MoveNext().Should().BeFalse();
        var intersect = () => IdQueryNode.And();
        intersect.Should().Throw<ArgumentException>().WithMessage("*at least one*");
    }

    [Fact]
    public void An_intersection_reads_only_the_pages_that_the_shorter_set_leads_to()
    {
        using var large = new TestIdSet();
        large.Apply([.. Enumerable.Range(0, 200_000).Select(id => new IdChange(id * 100L + id % 50, 0))]);
        using var small = new TestIdSet();
        small.Apply(new IdChange(77, 0), new IdChange(100_000, 0), new IdChange(15_000_000, 0));
        var query = IdQueryNode.And(Query(large), Query(small));

        // Two levels for each id, and none beside them.
        large.Pages.FailReadAfter = 12;
        Read(query, new Random(1)).Should().Equal(100_000, 15_000_000);
        large.Set.Pages.Should().BeGreaterThan(50);
    }

    private static IdQueryNode Make(Random random, List<TestIdSet> sets, int depth, out List<long> expected)
    {
        var operation = depth == 3 ? 0 : random.Next(depth == 0 ? 1 : 0, 4);
        if (operation == 0)
            return MakeSet(random, sets, out expected);
        var operands = new List<IdQueryNode>();
        expected = [];
        for (var i = 0; i < (operation == 3 ? 2 : random.Next(1, 4)); i++)
        {
            operands.Add(Make(random, sets, depth + 1, out var next));
            expected = (i == 0 ? next : operation switch
            {
                1 => expected.Intersect(next),
                2 => expected.Union(next),
                _ => expected.Except(next),
            }).Order().ToList();
        }

        return operation switch
        {
            1 => IdQueryNode.And([.. operands]),
            2 => IdQueryNode.Or([.. operands]),
            _ => IdQueryNode.AndNot(operands[0], operands[1]),
        };
    }

    private static IdQueryNode MakeSet(Random random, List<TestIdSet> sets, out List<long> expected)
    {
        var set = new TestIdSet();
        sets.Add(set);
        var ids = new SortedSet<long>();
        var count = random.Next(6) == 0 ? 0 : random.Next(random.Next(2) == 0 ? 100 : 5_000);
        while (ids.Count < count)
            ids.Add(random.Next(8_000));
        set.Apply([.. ids.Select(id => new IdChange(id, 0))]);
        expected = [.. ids];
        return count == 0 && random.Next(2) == 0 ? new IdQueryNode(null) : Query(set);
    }

    private static IdQueryNode Query(TestIdSet set) => new(set.OpenCursor());

    private static List<long> Read(IdQueryNode query, Random random)
    {
        var ids = new List<long>();
        var buffer = new long[100];
        for (int filled; (filled = query.Fill(buffer.AsSpan(0, random.Next(1, 100)))) > 0;)
            ids.AddRange(buffer.AsSpan(0, filled));
        return ids;
    }
}
