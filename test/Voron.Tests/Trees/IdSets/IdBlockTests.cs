using Voron.Format;
using Voron.Trees.IdSets.Pages;

namespace Voron.Tests.Trees.IdSets;

public sealed unsafe class IdBlockTests
{
    private const int MaxIds = IdBlockShape.MaxIds;

    [Fact]
    public void Blocks_of_all_widths_and_counts_come_back()
    {
        var random = new Random(TestSeed.Choose());
        using var edge = new EdgedBlock();
        for (var width = 0; width <= IdBlockShape.MaxGapWidth; width++)
        {
            for (var count = 1; count <= MaxIds; count++)
            {
                var payloadWidth = random.Next(IdBlockShape.MaxPayloadWidth + 1);
                RoundTrip(edge, MakeIds(random, width, count), MakePayloads(random, payloadWidth, count));
            }
        }
    }

    [Fact]
    public void Payloads_of_all_widths_and_counts_come_back()
    {
        var random = new Random(TestSeed.Choose());
        using var edge = new EdgedBlock();
        for (var width = 0; width <= IdBlockShape.MaxPayloadWidth; width++)
        {
            for (var count = 1; count <= MaxIds; count++)
                RoundTrip(edge, MakeIds(random, random.Next(20), count), MakePayloads(random, width, count));
        }
    }

    [Fact]
    public void Gaps_at_the_limits_come_back()
    {
        using var edge = new EdgedBlock();
        long[][] sets =
        [
            [0, 1], [0, long.MaxValue], [0, long.MaxValue - 1], [1, long.MaxValue], [long.MaxValue - 1, long.MaxValue], [long.MaxValue],
            [0, 1L << 62, long.MaxValue], [0, 1, long.MaxValue - 1, long.MaxValue],
        ];
        foreach (var ids in sets)
        {
            RoundTrip(edge, ids, new byte[ids.Length]);
            RoundTrip(edge, ids, Enumerable.Repeat(byte.MaxValue, ids.Length).ToArray());
        }
    }

    [Fact]
    public void Neighbours_and_missing_payloads_take_no_bytes()
    {
        long[] ids = [.. Enumerable.Range(1000, MaxIds).Select(id => (long)id)];
        fixed (long* first = ids)
        fixed (byte* payloads = new byte[MaxIds])
            IdBlock.Measure(first, payloads, MaxIds).Size.Should().Be(0);
    }

    [Theory]
    [InlineData(IdBlockShape.TailGapWidth, ushort.MaxValue)]
    [InlineData(IdBlockShape.LargeTailGapWidth, uint.MaxValue)]
    public void A_tail_that_grows_is_the_tail_that_is_packed(int width, long largest)
    {
        var random = new Random(TestSeed.Choose());
        using var edge = new EdgedBlock();
        var room = new IdBlockShape(1, width, 8, IsTail: true).Capacity;
        room.Should().Be(new IdBlockShape(MaxIds, width, 8, IsTail: true).Capacity);
        var tail = edge.Last(room);
        new Span<byte>(tail, room).Clear();
        List<long> ids = [random.Next(100)];
        List<byte> payloads = [(byte)random.Next(256)];
        fixed (long* first = ids.ToArray())
        fixed (byte* payload = payloads.ToArray())
            IdBlock.Pack(tail, new IdBlockShape(1, width, 8, IsTail: true), first, payload);
        while (ids.Count < MaxIds)
        {
            var before = new ReadOnlySpan<byte>(tail, room).ToArray();
            var gap = random.Next(4) == 0 ? largest : random.NextInt64(largest);
            payloads.Add((byte)random.Next(256));
            IdBlock.Append(tail, new IdBlockShape(ids.Count, width, 8, IsTail: true), (ulong)gap, payloads[^1]);
            ids.Add(ids[^1] + gap + 1);
            var now = new ReadOnlySpan<byte>(tail, room).ToArray();
            now.Zip(before).Count(pair => pair.First != pair.Second).Should().BeLessThanOrEqualTo(width / 8 + 1);
            CheckBlock(tail, room, new IdBlockShape(ids.Count, width, 8, IsTail: true), [.. ids], [.. payloads]);

            var packed = new byte[room];
            fixed (byte* target = packed)
            fixed (long* all = ids.ToArray())
            fixed (byte* payload = payloads.ToArray())
                IdBlock.Pack(target, new IdBlockShape(ids.Count, width, 8, IsTail: true), all, payload);
            now.Should().Equal(packed);
        }
    }

    [Fact]
    public void A_block_that_leads_beyond_its_room_is_refused()
    {
        using var edge = new EdgedBlock();
        var ids = stackalloc long[MaxIds];
        var payloads = stackalloc byte[MaxIds];
        for (var room = 0; room <= 1100; room += 4)
        {
            foreach (var count in new[] { 0, 1, 2, 64, MaxIds, MaxIds + 1, 256 })
            {
                for (var width = -1; width <= 70; width++)
                {
                    var shape = new IdBlockShape(count, width, room % 10, (width & 3) == 1);
                    var isFit = shape.IsPossible && shape.Size <= room;
                    var block = edge.Last(room);
                    new Span<byte>(block, room).Clear();
                    IdBlock.TryUnpack(block, room, shape, 5, ids).Should().Be(isFit);
                    IdBlock.TryUnpackPayloads(block, room, shape, payloads).Should().Be(isFit);
                }
            }
        }
    }

    [Fact]
    public void Ids_beyond_the_largest_are_refused_and_any_bytes_are_survived()
    {
        var random = new Random(TestSeed.Choose());
        using var edge = new EdgedBlock();
        var ids = stackalloc long[MaxIds];
        var refused = 0;
        for (var i = 0; i < SuiteShare.Rounds(200_000); i++)
        {
            var shape = new IdBlockShape(random.Next(1, MaxIds + 1), random.Next(IdBlockShape.MaxGapWidth + 1), random.Next(9));
            var block = edge.Last(shape.Size);
            random.NextBytes(new Span<byte>(block, shape.Size));
            var first = random.Next(3) == 0 ? random.NextInt64() : random.Next(2) == 0 ? random.Next() : long.MaxValue - random.Next(1000);
            if (!IdBlock.TryUnpack(block, shape.Size, shape, first, ids))
            {
                refused++;
                IsTooLarge(block, shape, first).Should().BeTrue();
                continue;
            }

            IsTooLarge(block, shape, first).Should().BeFalse();
            for (var at = 1; at < shape.Count; at++)
            {
                if (ids[at] <= ids[at - 1])
                    throw new InvalidOperationException($"{shape} from {first} falls at {at}");
            }
        }

        refused.Should().BeGreaterThan(SuiteShare.Rounds(10_000));
        IdBlock.TryUnpack(edge.Last(0), 0, new IdBlockShape(1, 0, 0), -1, ids).Should().BeFalse();
        IdBlock.TryUnpack(edge.Last(0), 0, new IdBlockShape(2, 0, 0), long.MaxValue, ids).Should().BeFalse();
    }

    private static bool IsTooLarge(byte* block, IdBlockShape shape, long first)
    {
        Int128 id = first;
        for (var i = 0; i < shape.Count - 1; i++)
        {
            for (var bit = 0; bit < shape.GapWidth; bit++)
            {
                var at = i * shape.GapWidth + bit;
                id += (Int128)(block[at >> 3] >> (at & 7) & 1) << bit;
            }

            id++;
        }

        return id > long.MaxValue;
    }

    private static void RoundTrip(EdgedBlock edge, long[] ids, byte[] payloads)
    {
        IdBlockShape shape;
        using var target = new GuardedBuffer(2048);
        fixed (long* first = ids)
        fixed (byte* payload = payloads)
        {
            shape = IdBlock.Measure(first, payload, ids.Length);
            shape.IsPossible.Should().BeTrue();
            IdBlock.Pack(target.Pointer, shape, first, payload);
        }

        target.Span[shape.Size..].ContainsAnyExcept((byte)0).Should().BeFalse();
        for (var slack = 0; slack < 24; slack += 5)
        {
            var block = edge.Last(shape.Size + slack);
            new Span<byte>(block, shape.Size + slack).Fill(0xFF);
            target.Span[..shape.Size].CopyTo(new Span<byte>(block, shape.Size));
            CheckBlock(block, shape.Size + slack, shape, ids, payloads);
        }
    }

    private static void CheckBlock(byte* block, int room, IdBlockShape shape, long[] ids, byte[] payloads)
    {
        using var found = new GuardedBuffer(MaxIds * sizeof(long), fill: 0xEE);
        using var foundPayloads = new GuardedBuffer(MaxIds, fill: 0xEE);
        IdBlock.TryUnpack(block, room, shape, ids[0], (long*)found.Pointer).Should().BeTrue();
        IdBlock.TryUnpackPayloads(block, room, shape, foundPayloads.Pointer).Should().BeTrue();
        var same = new ReadOnlySpan<long>(found.Pointer, ids.Length).SequenceEqual(ids)
            && new ReadOnlySpan<byte>(foundPayloads.Pointer, ids.Length).SequenceEqual(payloads);
        if (!same || !found.IsIntact || !foundPayloads.IsIntact)
            throw new InvalidOperationException($"{shape} did not come back");
    }

    private static long[] MakeIds(Random random, int width, int count)
    {
        // One gap has all bits of the width that the range of ids permits; the others are random.
        var ids = new long[count];
        ids[0] = random.NextInt64(count == 1 ? long.MaxValue : 100);
        var most = count == 1 ? 0UL : Math.Min((1UL << width) - 1, (ulong)(long.MaxValue - 200) / (ulong)(count - 1) - 1);
        for (var i = 1; i < count; i++)
            ids[i] = ids[i - 1] + 1 + (i == 1 || random.Next(8) == 0 ? (long)most : random.NextInt64((long)most + 1));
        return ids;
    }

    private static byte[] MakePayloads(Random random, int width, int count)
    {
        var payloads = new byte[count];
        for (var i = 0; i < count; i++)
            payloads[i] = (byte)(i == 0 ? (1 << width) - 1 : random.Next(1 << width));
        return payloads;
    }
}
