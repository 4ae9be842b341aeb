using Voron.Format;
using Voron.Trees.IdSets.Pages;

namespace Voron.Tests.Trees.IdSets;

[Quick]
public sealed unsafe class IdSetCursorTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(127)]
    [InlineData(128)]
    [InlineData(129)]
    [InlineData(5_000)]
    [InlineData(150_000)]
    public void A_cursor_goes_both_ways_and_to_any_id(int count)
    {
        var random = new Random(TestSeed.Choose());
        using var set = MakeSet(count, random, out var ids);
        var cursor = set.OpenCursor();
        cursor.Count.Should().Be(count);
        for (var i = 0; i < count; i++)
        {
            if (!cursor.MoveNext() || cursor.Current != ids[i] || cursor.Payload != set.Model[ids[i]])
                throw new InvalidOperationException($"id {i} is {cursor.Current}, not {ids[i]}");
        }

        cursor.MoveNext().Should().BeFalse();
        cursor.MoveNext().Should().BeFalse();
        for (var i = count - 1; i >= 0; i--)
        {
            if (!cursor.MovePrevious() || cursor.Current != ids[i])
                throw new InvalidOperationException($"going back, id {i} is {cursor.Current}, not {ids[i]}");
        }

        cursor.MovePrevious().Should().BeFalse();
        cursor.MovePrevious().Should().BeFalse();
        cursor.MoveNext().Should().BeTrue();
        for (var i = 0; i < 3_000; i++)
            SeekOne(cursor, ids, random);
        cursor.MoveToEnd();
        cursor.MovePrevious().Should().BeTrue();
        cursor.Current.Should().Be(ids[^1]);
        cursor.MoveToStart();
        cursor.MoveNext().Should().BeTrue();
        cursor.Current.Should().Be(ids[0]);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(200)]
    [InlineData(20_000)]
    public void A_fill_continues_where_the_cursor_is(int count)
    {
        var random = new Random(TestSeed.Choose());
        using var set = MakeSet(count, random, out var ids);
        var cursor = set.OpenCursor();
        var found = new List<long>();
        var payloads = new List<byte>();
        var buffer = new long[1_000];
        var bytes = new byte[1_000];
        for (int filled, room; (filled = cursor.Fill(buffer.AsSpan(0, room = random.Next(1, 1_000)), bytes.AsSpan(0, room))) > 0;)
        {
            found.AddRange(buffer.AsSpan(0, filled));
            payloads.AddRange(bytes.AsSpan(0, filled));
        }

        found.Should().Equal(ids);
        payloads.Should().Equal(set.Model.Values);
        cursor.Seek(ids[count / 2]).Should().BeTrue();
        cursor.Fill([], []).Should().Be(0);
        cursor.Fill(buffer, bytes).Should().Be(Math.Min(1_000, count - count / 2), "the id that was sought is the first one");
        buffer[0].Should().Be(ids[count / 2]);
        bytes[0].Should().Be(set.Model[ids[count / 2]]);
        cursor.Seek(ids[0]).Should().BeTrue();
        cursor.MoveNext().Should().Be(count > 1);
        cursor.Fill(buffer, []).Should().Be(Math.Min(1_000, Math.Max(0, count - 2)), "the id to which the cursor moved has been read");
        if (count > 2)
            buffer[0].Should().Be(ids[2]);
    }

    [Fact]
    public void Sets_in_a_leaf_record_are_read_like_others()
    {
        var random = new Random(TestSeed.Choose());
        var record = stackalloc byte[FewIdsHeader.MaxBytes];
        var cursor = new IdSetCursor();
        using var pages = new FakePages();
        for (var count = 1; count <= IdBlock.MaxIds; count++)
        {
            var ids = new long[count];
            var payloads = new byte[count];
            for (var i = 0; i < count; i++)
                (ids[i], payloads[i]) = ((i == 0 ? 0 : ids[i - 1]) + 1 + random.Next(200), (byte)random.Next(4));
            fixed (long* first = ids)
            fixed (byte* payload = payloads)
            {
                var length = InlineIds.Write(record, first, payload, count, FewIdsHeader.MaxBytes);
                length.Should().BeGreaterThan(0);
                ExtendedRecord.IsSound(record, length).Should().BeTrue();
                InlineIds.Count(record).Should().Be(count);
                InlineIds.Write(record, first, payload, count, most: 0).Should().Be(count == 1 ? length : 0);
                cursor.Open(pages, record, length);
            }

            for (var i = 0; i < count; i++)
                (cursor.MoveNext() && cursor.Current == ids[i] && cursor.Payload == payloads[i]).Should().BeTrue();
            cursor.MoveNext().Should().BeFalse();
            cursor.MovePrevious().Should().BeTrue();
            cursor.Current.Should().Be(ids[^1]);
            for (var i = 0; i < 50; i++)
                SeekOne(cursor, ids, random);
            cursor.Close();
        }
    }

    [Fact]
    public void A_damaged_block_ends_the_cursor_with_corruption()
    {
        using var set = MakeSet(50_000, new Random(5), out var ids);
        var cursor = set.OpenCursor();
        cursor.Seek(ids[20_000]).Should().BeTrue();
        var page = set.PageOf(ids[20_000]);
        var block = IdPage.FindBlock(page, ids[20_000]);
        IdPage.Entries(page)[block].GapWidth = 40;
        cursor.Seek(ids[0]).Should().BeTrue();
        cursor.Invoking(it => it.Seek(ids[20_000])).Should().Throw<CorruptionException>().WithMessage($"*Block {block}*");
        cursor.Invoking(it => it.MoveNext()).Should().Throw<InvalidOperationException>().WithMessage("*lost its place*");
        cursor.Seek(ids[10]).Should().BeTrue();
        cursor.MoveNext().Should().BeTrue();
        cursor.Current.Should().Be(ids[11]);
    }

    private static void SeekOne(IdSetCursor cursor, long[] ids, Random random)
    {
        var near = random.Next(ids.Length);
        if (random.Next(3) == 0)
            near = Math.Min(ids.Length - 1, Array.BinarySearch(ids, cursor.Current) + random.Next(300));
        var id = Math.Max(0, ids[near] + random.Next(-2, 3));
        var expected = Array.BinarySearch(ids, id);
        expected = expected < 0 ? ~expected : expected;
        var isFound = cursor.Seek(id);
        if (isFound != expected < ids.Length || (isFound && cursor.Current != ids[expected]))
            throw new InvalidOperationException($"{id} was sought, and {cursor.Current} found");
        if (!isFound)
            cursor.MovePrevious().Should().BeTrue();
    }

    private static TestIdSet MakeSet(int count, Random random, out long[] ids)
    {
        ids = new long[count];
        var changes = new IdChange[count];
        for (var i = 0; i < count; i++)
        {
            ids[i] = (i == 0 ? 0 : ids[i - 1]) + 1 + (i / 300 % 2 == 0 ? 0 : random.Next(100));
            changes[i] = new IdChange(ids[i], (short)(i % 7));
        }

        var set = new TestIdSet();
        set.Apply(changes);
        return set;
    }
}
