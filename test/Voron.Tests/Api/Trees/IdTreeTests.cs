using System.Buffers;
using System.Runtime.InteropServices;
using Voron.Tests.Faults;

namespace Voron.Tests.Api;

/// <summary>The calls of trees of id sets, one by one, and their refusals.</summary>
public sealed class IdTreeTests : IDisposable
{
    private readonly TestDirectory _directory = new();
    private readonly StorageEnvironment _environment;

    public IdTreeTests() => _environment = StorageEnvironment.Open(_directory.Path, FaultTestKit.Options());

    public void Dispose()
    {
        _environment.Dispose();
        _directory.Dispose();
    }

    [Fact]
    public void Ids_are_found_by_key_and_in_order()
    {
        Fill("t", "odd", 1, 1_000, 2);
        using var reading = _environment.BeginRead();
        var tree = reading.OpenIdTree("t");
        (tree.Name, tree.Count, tree.ValueCount, tree.CountOf("odd"u8), tree.CountOf("even"u8)).Should().Be(("t", 1, 1_000, 1_000, 0));
        tree.GetStatistics().LeafPages.Should().Be(1);
        tree.GetStatistics().NestedPages.Should().BePositive();
        tree.Contains("odd"u8, 77).Should().BeTrue();
        tree.Contains("odd"u8, 78).Should().BeFalse();
        tree.Contains("even"u8, 77).Should().BeFalse();
        tree.Contains("odd"u8, -1).Should().BeFalse();
        tree.TryGetPayload("odd"u8, 77, out var payload).Should().BeTrue();
        payload.Should().Be(77);
        using var ids = tree.OpenIds("odd"u8);
        ids.IsOnId.Should().BeFalse();
        ids.Seek(100).Should().BeTrue();
        (ids.Id, ids.Payload, ids.IsOnId, ids.Count).Should().Be((101, 101, true, 1_000));
        ids.SeekForPrevious(100).Should().BeTrue();
        ids.Id.Should().Be(99);
        ids.SeekForPrevious(101).Should().BeTrue();
        ids.Id.Should().Be(101);
        ids.SeekForPrevious(0).Should().BeFalse();
        ids.SeekForPrevious(-5).Should().BeFalse();
        ids.Seek(2_000).Should().BeFalse();
        ids.MovePrevious().Should().BeTrue();
        ids.Id.Should().Be(1_999);
        ids.SeekFirst().Should().BeTrue();
        ids.Id.Should().Be(1);
        ids.Seek(-7).Should().BeTrue();
        ids.Id.Should().Be(1);
        ids.SeekLast().Should().BeTrue();
        ids.MoveNext().Should().BeFalse();
        using var none = tree.OpenIds("even"u8);
        (none.Count, none.MoveNext(), none.SeekLast(), none.Fill(new long[4])).Should().Be((0, false, false, 0));
    }

    [Fact]
    public void Filling_begins_with_the_id_that_was_sought()
    {
        Fill("t", "k", 0, 500, 1);
        using var reading = _environment.BeginRead();
        using var ids = reading.OpenIdTree("t").OpenIds("k"u8);
        var buffer = new long[3];
        ids.Fill(buffer).Should().Be(3);
        buffer.Should().Equal(0, 1, 2);
        ids.Id.Should().Be(2);
        ids.MoveNext().Should().BeTrue();
        ids.Fill(buffer).Should().Be(3);
        buffer.Should().Equal(4, 5, 6);
        ids.Seek(200);
        ids.Fill(buffer).Should().Be(3);
        buffer.Should().Equal(200, 201, 202);
        ids.SeekFirst();
        ids.Fill(buffer).Should().Be(3);
        buffer.Should().Equal(0, 1, 2);
        ids.Seek(498);
        ids.Fill(buffer).Should().Be(2);
        ids.Fill(buffer).Should().Be(0);
        ids.IsOnId.Should().BeFalse();
        ids.MovePrevious().Should().BeTrue();
        ids.Id.Should().Be(499);

        using var query = reading.OpenIdTree("t").Query("k"u8);
        query.Seek(300).Should().BeTrue();
        query.Fill(buffer).Should().Be(3);
        buffer.Should().Equal(300, 301, 302);
        query.Fill(buffer).Should().Be(3);
        buffer.Should().Equal(303, 304, 305);
    }

    [Fact]
    public void Queries_combine_sets()
    {
        Fill("t", "twos", 0, 3_000, 2);
        Fill("t", "threes", 0, 2_000, 3);
        Fill("t", "fives", 0, 40, 5);
        using var reading = _environment.BeginRead();
        var tree = reading.OpenIdTree("t");
        using (var both = IdQuery.And(tree.Query("twos"u8), tree.Query("threes"u8)))
        {
            both.MostIds.Should().Be(2_000);
            All(both).Should().Equal(Enumerable.Range(0, 1_000).Select(i => i * 6L));
            both.MoveNext().Should().BeFalse();
        }

        using (var any = IdQuery.Or(tree.Query("fives"u8), IdQuery.AndNot(tree.Query("threes"u8), tree.Query("twos"u8))))
        {
            var expected = Enumerable.Range(0, 6_000).Where(i => (i % 5 == 0 && i < 200) || (i % 3 == 0 && i % 2 != 0)).Select(i => (long)i);
            All(any).Should().Equal(expected);
        }

        using (var query = IdQuery.And(tree.Query("twos"u8), tree.Query("missing"u8)))
            query.MoveNext().Should().BeFalse();
        using (var query = tree.Query("twos"u8))
        {
            query.Seek(11).Should().BeTrue();
            query.Current.Should().Be(12);
            var written = new ArrayBufferWriter<byte>();
            query.CopyTo(written).Should().Be(2_994);
            MemoryMarshal.Cast<byte, long>(written.WrittenSpan)[1].Should().Be(14);
            var current = () => query.Current;
            current.Should().Throw<InvalidOperationException>().WithMessage("*on no id*");
        }

        using (var query = IdQuery.And(tree.Query("fives"u8)))
            query.CountRest().Should().Be(40);
    }

    [Fact]
    public void A_query_is_a_part_of_one_other_query_at_most()
    {
        Fill("t", "k", 0, 10, 1);
        using var reading = _environment.BeginRead();
        using var other = _environment.BeginRead();
        var tree = reading.OpenIdTree("t");
        using var query = tree.Query("k"u8);
        using var combined = IdQuery.Or(query, tree.Query("k"u8));
        query.Dispose();
        combined.MoveNext().Should().BeTrue();
        ((Action)(() => query.MoveNext())).Should().Throw<InvalidOperationException>().WithMessage("*part of another*");
        ((Action)(() => IdQuery.And(query))).Should().Throw<InvalidOperationException>().WithMessage("*part of another*");
        ((Action)(() => IdQuery.And(combined))).Should().Throw<InvalidOperationException>().WithMessage("*begun*");
        ((Action)(() => IdQuery.And())).Should().Throw<ArgumentException>();
        using var twice = tree.Query("k"u8);
        ((Action)(() => IdQuery.And(twice, twice))).Should().Throw<ArgumentException>().WithMessage("*1 of 2*");
        using var foreign = other.OpenIdTree("t").Query("k"u8);
        ((Action)(() => IdQuery.And(twice, foreign))).Should().Throw<InvalidOperationException>().WithMessage("*different transactions*");
        twice.CountRest().Should().Be(10);
        ((Action)(() => IdQuery.AndNot(null!, foreign))).Should().Throw<ArgumentNullException>();
    }

    [Fact]
    public void Queries_are_nested_to_a_limit_and_not_until_the_stack_is_full()
    {
        Fill("t", "k", 0, 10, 1);
        using var reading = _environment.BeginRead();
        var tree = reading.OpenIdTree("t");
        var query = tree.Query("k"u8);
        var nest = () =>
        {
            for (var i = 0; i < 200; i++)
                query = IdQuery.Or(query, tree.Query("k"u8));
        };
        nest.Should().Throw<ArgumentException>().WithMessage("*100 levels*");
        query.CountRest().Should().Be(10);
        query.Dispose();
        var all = Enumerable.Range(0, 2_000).Select(_ => reading.OpenIdTree("t").Query("k"u8)).ToArray();
        using var any = IdQuery.Or(all);
        any.CountRest().Should().Be(10);
    }

    [Fact]
    public void A_query_continues_while_its_trees_change()
    {
        using var writing = _environment.BeginWrite();
        var left = writing.CreateIdTree("left");
        var right = writing.CreateIdTree("right");
        for (var i = 0; i < 5_000; i++)
        {
            left.Add("k"u8, i);
            right.Add("k"u8, i * 2);
        }

        using var query = IdQuery.And(left.Query("k"u8), right.Query("k"u8));
        var found = new List<long>();
        while (query.MoveNext())
        {
            found.Add(query.Current);
            left.Remove("k"u8, query.Current);
            right.Add("k"u8, 20_000 + query.Current);
            left.Add("other"u8, query.Current);
        }

        found.Should().Equal(Enumerable.Range(0, 2_500).Select(i => i * 2L));
        left.CountOf("k"u8).Should().Be(2_500);
    }

    [Fact]
    public void Kinds_and_ids_that_do_not_fit_are_refused()
    {
        Fill("t", "k", 0, 3, 1);
        using var writing = _environment.BeginWrite();
        writing.CreateTree("plain");
        ((Action)(() => writing.CreateIdTree("plain"))).Should().Throw<InvalidOperationException>().WithMessage("*'plain'*tree of id sets*");
        ((Action)(() => writing.OpenTree("t"))).Should().Throw<InvalidOperationException>().WithMessage("*'t'*tree of id sets*");
        ((Action)(() => writing.OpenIdTree("none"))).Should().Throw<KeyNotFoundException>().WithMessage("*none*");
        var tree = writing.OpenIdTree("t");
        ((Action)(() => tree.Add("k"u8, -1))).Should().Throw<ArgumentOutOfRangeException>();
        ((Action)(() => tree.AddMany("k"u8, [4, 6, 6]))).Should().Throw<ArgumentException>().WithMessage("*Id 2 of 3, 6,*");
        ((Action)(() => tree.AddMany("k"u8, [4, 6], [1]))).Should().Throw<ArgumentException>().WithMessage("*1 payloads for 2 ids*");
        tree.AsReadOnly().ToString().Should().Be("id tree 't' with 1 keys and 3 ids");

        // None of this has broken the transaction.
        tree.Add("k"u8, long.MaxValue, 255);
        tree.Add("k"u8, long.MaxValue, 254);
        tree.TryGetPayload("k"u8, long.MaxValue, out var payload).Should().BeTrue();
        payload.Should().Be(254);
        using var ids = tree.OpenIds("k"u8);
        ids.Seek(long.MaxValue).Should().BeTrue();
        ids.MoveNext().Should().BeFalse();
        writing.Commit();
    }

    [Fact]
    public void Reading_and_waiting_changes_allocate_nothing()
    {
        Fill("t", "k", 0, 50_000, 3);
        var buffer = new long[512];
        Read();
        var before = GC.GetAllocatedBytesForCurrentThread();
        for (var i = 0; i < 100; i++)
            Read();
        ((GC.GetAllocatedBytesForCurrentThread() - before) / 100.0).Should().BeLessThan(200);

        void Read()
        {
            using var reading = _environment.BeginRead();
            var tree = reading.OpenIdTree("t");
            using var ids = tree.OpenIds("k"u8);
            while (ids.Fill(buffer) > 0)
            {
            }

            for (var i = 0; i < 200; i++)
                tree.Contains("k"u8, i);
        }
    }

    private static List<long> All(IdQuery query)
    {
        var all = new List<long>();
        while (query.MoveNext())
            all.Add(query.Current);
        return all;
    }

    private void Fill(string name, string key, long first, int count, int step)
    {
        using var writing = _environment.BeginWrite();
        var tree = writing.CreateIdTree(name);
        for (var i = 0; i < count; i++)
            tree.Add(System.Text.Encoding.UTF8.GetBytes(key), first + i * step, (byte)(first + i * step));
        writing.Commit();
    }
}
