using System.Buffers.Binary;
using System.Runtime.CompilerServices;

namespace Voron.Trees.Pages;

/// <summary>
/// A key to search for, with its first eight bytes as a number, so that most comparisons are between two registers. The bytes must remain pinned for
/// the lifetime of this value.
/// </summary>
internal readonly unsafe struct SearchKey
{
    private const int HeadBytes = sizeof(ulong);

    public readonly byte* Bytes;
    public readonly int Length;
    public readonly ulong Head;

    public SearchKey(byte* bytes, int length)
    {
        Bytes = bytes;
        Length = length;
        if (length >= HeadBytes)
        {
            Head = BinaryPrimitives.ReverseEndianness(Unsafe.ReadUnaligned<ulong>(bytes));
            return;
        }

        // Unlike for a key in a page, the memory around this key might not be readable.
        ulong head = 0;
        for (var i = 0; i < length; i++)
            head |= (ulong)bytes[i] << (56 - 8 * i);
        Head = head;
    }

    public ReadOnlySpan<byte> Span => new(Bytes, Length);

    /// <summary>
    /// Returns the first eight bytes of a key of at least one byte inside a page, as a number padded with zeros. For a shorter key, the eight bytes
    /// up to its end are read, including bytes of the page that precede the key: the page may end right after it.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ulong HeadInPage(byte* key, int length)
    {
        if (length >= HeadBytes)
            return BinaryPrimitives.ReverseEndianness(Unsafe.ReadUnaligned<ulong>(key));

        return BinaryPrimitives.ReverseEndianness(Unsafe.ReadUnaligned<ulong>(key + length - HeadBytes)) << (8 * (HeadBytes - length));
    }

    /// <summary>Returns a negative number when the stored key sorts before this one. Stored keys are at least one byte long.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public int CompareStored(byte* stored, int storedLength)
    {
        var head = HeadInPage(stored, storedLength);
        if (head != Head)
            return head < Head ? -1 : 1;

        return CompareTail(stored, storedLength);
    }

    /// <summary>Like <see cref="CompareStored"/>, for keys with equal heads.</summary>
    public int CompareTail(byte* stored, int storedLength)
    {
        var common = Math.Min(storedLength, Length);
        if (common > HeadBytes)
        {
            var order = new ReadOnlySpan<byte>(stored + HeadBytes, common - HeadBytes)
                .SequenceCompareTo(new ReadOnlySpan<byte>(Bytes + HeadBytes, common - HeadBytes));
            if (order != 0)
                return order;
        }

        return storedLength - Length;
    }
}
