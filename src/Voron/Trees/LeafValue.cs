using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Reads the value of a leaf's record, from the leaf or from the value's own extent.</summary>
internal static unsafe class LeafValue
{
    /// <summary>
    /// Returns the value of a record, valid as described at <see cref="PageReader.Read"/>. A compressed value is copied to the memory of the
    /// transaction, and is valid until that ends.
    /// </summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="record">The record.</param>
    /// <param name="treeId">The id of the tree, which has the dictionaries of its compressed values.</param>
    /// <exception cref="CorruptionException">The value cannot match the description in its record, or its bytes are damaged.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> Read(PageReader reader, byte* record, uint treeId)
    {
        if (LeafPage.Kind(record) == ValueKind.Inline)
            return new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record));

        return ReadOutside(reader, record, treeId);
    }

    /// <summary>Copies a part of the value of a record. Of a large value, only that part is verified; of a compressed one, nothing is kept.</summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="record">The record.</param>
    /// <param name="treeId">The id of the tree.</param>
    /// <param name="offset">Where the part begins in the value.</param>
    /// <param name="destination">Receives the part, which is as long.</param>
    /// <exception cref="CorruptionException">The value cannot match the description in its record, or its bytes are damaged.</exception>
    public static void CopyPart(PageReader reader, byte* record, uint treeId, long offset, scoped Span<byte> destination)
    {
        if (LeafPage.Packed(record) != null)
            PackedReader.Copy(reader, record, treeId, offset, destination);
        else if (LeafPage.Kind(record) == ValueKind.LargeExtent)
            reader.ReadLarge(*(LargeExtentReference*)LeafPage.InlineBytes(record), offset, destination.Length).CopyTo(destination);
        else
            Read(reader, record, treeId).Slice((int)offset, destination.Length).CopyTo(destination);
    }

    /// <summary>Returns whether the value of a record has certain bytes. Their number is compared first, which needs no page.</summary>
    /// <inheritdoc cref="CopyPart"/>
    /// <param name="expected">The bytes.</param>
    public static bool HasBytes(PageReader reader, byte* record, uint treeId, ReadOnlySpan<byte> expected)
    {
        if (LeafPage.Packed(record) != null)
            return PackedReader.HasBytes(reader, record, treeId, expected);
        return Length(record) == expected.Length && Read(reader, record, treeId).SequenceEqual(expected);
    }

    /// <summary>Returns the length of a record's value without reading its extent.</summary>
    /// <exception cref="CorruptionException">The record has a set of ids, which no tree of values can have.</exception>
    public static long Length(byte* record) => LeafPage.Kind(record) switch
    {
        ValueKind.Inline => LeafPage.InlineLength(record),
        ValueKind.Overflow => ((OverflowReference*)LeafPage.InlineBytes(record))->Length,
        ValueKind.LargeExtent => ((LargeExtentReference*)LeafPage.InlineBytes(record))->Length,
        _ => LeafPage.Packed(record) is var packed && packed != null ? packed->Length : TreeErrors.ThrowExtended(record),
    };

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ReadOnlySpan<byte> ReadOutside(PageReader reader, byte* record, uint treeId)
    {
        if (LeafPage.Packed(record) != null)
            return PackedReader.Read(reader, record, treeId);
        var kind = LeafPage.Kind(record);
        var length = Length(record);
        if (kind is not (ValueKind.Overflow or ValueKind.LargeExtent) || length is < 0 or > int.MaxValue)
            TreeErrors.ThrowValueKind(reader, kind, length);
        if (kind == ValueKind.LargeExtent)
            return reader.ReadLarge(*(LargeExtentReference*)LeafPage.InlineBytes(record), 0, (int)length);

        var first = new PageNumber(((OverflowReference*)LeafPage.InlineBytes(record))->FirstPage);
        return new ReadOnlySpan<byte>(TreePages.ReadExtent(reader, first, length) + PageHeader.Size, (int)length);
    }
}
