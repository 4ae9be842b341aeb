using Voron.Simulation.Sorting;
using Voron.Sorting;

namespace Voron.Tests.Sorting;

[Quick]
public sealed unsafe class KeySorterTests
{
    [Theory]
    [InlineData(KeyKind.Random)]
    [InlineData(KeyKind.Short)]
    [InlineData(KeyKind.Prefixed)]
    [InlineData(KeyKind.Nested)]
    [InlineData(KeyKind.Zeros)]
    [InlineData(KeyKind.Long)]
    [InlineData(KeyKind.Descending)]
    internal void Items_are_sorted_by_key_and_then_by_arrival(KeyKind kind)
    {
        var random = new Random(TestSeed.Choose());
        foreach (var count in new[] { 1, 2, 16, 17, 300, 5000 })
        {
            var maker = new EntryMaker(random, kind, maxKeyBytes: 600);
            var keys = Enumerable.Range(0, count).Select(_ => maker.NextKey()).ToArray();
            var bytes = keys.SelectMany(key => key).ToArray();
            var items = new Item[count];
            var offset = 0;
            for (var i = 0; i < count; i++)
            {
                items[i] = new Item(offset, keys[i].Length);
                offset += keys[i].Length;
            }

            var expected = items.Order(Comparer<Item>.Create((left, right) => Compare(bytes, left, right))).ToArray();
            var heads = new ulong[count];

            // The bytes behind the last key are not zeros, as they must be in its head.
            using var guarded = new GuardedBuffer(bytes);
            int prefix;
            fixed (byte* start = guarded.Span)
                prefix = KeySorter.Sort<Item>(items, heads, start);

            items.Should().Equal(expected);
            var all = keys.Aggregate((left, right) => left[..left.AsSpan().CommonPrefixLength(right)]);
            prefix.Should().Be(all.Length);
            heads.Should().BeInAscendingOrder();
            for (var i = 0; i < count; i++)
                heads[i].Should().Be(HeadOf(KeyOf(bytes, items[i])[prefix..]));
        }
    }

    private static int Compare(byte[] bytes, Item left, Item right)
    {
        var order = KeyOf(bytes, left).SequenceCompareTo(KeyOf(bytes, right));
        return order != 0 ? order : left.Offset.CompareTo(right.Offset);
    }

    private static ReadOnlySpan<byte> KeyOf(byte[] bytes, Item item) => bytes.AsSpan(item.Offset, item.KeyLength);

    private static ulong HeadOf(ReadOnlySpan<byte> rest)
    {
        ulong head = 0;
        for (var i = 0; i < sizeof(ulong); i++)
            head = head << 8 | (i < rest.Length ? rest[i] : 0u);
        return head;
    }

    private readonly record struct Item(int Offset, int KeyLength) : IKeyedItem;
}
