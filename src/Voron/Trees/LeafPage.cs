using System.Runtime.CompilerServices;
using Voron.Format;

namespace Voron.Trees;

/// <summary>Reads the records of a leaf.</summary>
internal unsafe struct LeafPage : IRecordLayout
{
    // Below this many entries left, what a binary search will touch next is close by anyway.
    private const int PrefetchFrom = 8;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int RecordSize(byte* record) => LeafRecordHeader.Size + KeyLength(record) + InlineLength(record);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int KeyLength(byte* record) => ((LeafRecordHeader*)record)->KeyLengthAndKind & LeafRecordHeader.KeyLengthMask;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ValueKind Kind(byte* record) =>
        (ValueKind)(((LeafRecordHeader*)record)->KeyLengthAndKind >> LeafRecordHeader.KindShift);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int InlineLength(byte* record) => ((LeafRecordHeader*)record)->InlineLength;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* KeyBytes(byte* record) => record + LeafRecordHeader.Size;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* InlineBytes(byte* record) => record + LeafRecordHeader.Size + KeyLength(record);

    public static ReadOnlySpan<byte> Key(byte* record) => new(KeyBytes(record), KeyLength(record));

    public static ushort Head(int keyLength, ValueKind kind) => (ushort)(keyLength | (int)kind << LeafRecordHeader.KindShift);

    /// <summary>The index of the entry with this key; if there is none, the complement of where it belongs.</summary>
    public static int Search(byte* page, in SearchKey key)
    {
        var slots = SlottedPage.Slots(page);
        var low = 0;
        var high = SlottedPage.Count(page) - 1;
        var head = key.Head;
        while (low <= high)
        {
            var middle = (low + high) >>> 1;
            if (high - low >= PrefetchFrom)
            {
                // Both places the next step can look at: it waits for memory once where it would wait twice.
                SearchKey.Prefetch(page + slots[(low + middle - 1) >>> 1]);
                SearchKey.Prefetch(page + slots[(middle + 1 + high) >>> 1]);
            }

            var record = page + slots[middle];
            var length = KeyLength(record);
            var stored = SearchKey.HeadInPage(KeyBytes(record), length);
            if (stored < head)
            {
                low = middle + 1;
            }
            else if (stored > head)
            {
                high = middle - 1;
            }
            else
            {
                var order = key.CompareTail(KeyBytes(record), length);
                if (order == 0)
                    return middle;
                if (order < 0)
                    low = middle + 1;
                else
                    high = middle - 1;
            }
        }

        return ~low;
    }
}
