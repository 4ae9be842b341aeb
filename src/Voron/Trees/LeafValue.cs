using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Reads the value of a leaf record, from the leaf or from the value's own extent.</summary>
internal static unsafe class LeafValue
{
    /// <summary>
    /// Returns the value of a record, valid as described at <see cref="PageReader.Read"/>. A compressed value is decompressed into the memory of the
    /// transaction, and remains valid until the transaction ends.
    /// </summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="record">The record.</param>
    /// <param name="treeId">The id of the tree, which identifies the dictionaries of its compressed values.</param>
    /// <exception cref="CorruptionException">The value contradicts its record, or its bytes are damaged.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> Read(PageReader reader, byte* record, uint treeId)
    {
        if (LeafPage.Kind(record) == ValueKind.Inline)
            return new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record));

        return ReadOutside(reader, record, treeId);
    }

    /// <summary>Copies a part of a record's value. Only that part of a large value is verified; a compressed value is not kept in memory.</summary>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="record">The record.</param>
    /// <param name="treeId">The id of the tree.</param>
    /// <param name="offset">The offset of the part in the value.</param>
    /// <param name="destination">Receives the part, which has the same length.</param>
    /// <exception cref="CorruptionException">The value contradicts its record, or its bytes are damaged.</exception>
    public static void CopyPart(PageReader reader, byte* record, uint treeId, long offset, scoped Span<byte> destination)
    {
        if (LeafPage.Packed(record) != null)
            PackedReader.Copy(reader, record, treeId, offset, destination);
        else if (LeafPage.Kind(record) == ValueKind.LargeExtent)
            reader.ReadLarge(*(LargeExtentReference*)LeafPage.InlineBytes(record), offset, destination.Length).CopyTo(destination);
        else
            Read(reader, record, treeId).Slice((int)offset, destination.Length).CopyTo(destination);
    }

    /// <summary>Returns whether the value of a record equals certain bytes. The lengths are compared first, which reads no page.</summary>
    /// <inheritdoc cref="CopyPart"/>
    /// <param name="expected">The bytes to compare with.</param>
    public static bool HasBytes(PageReader reader, byte* record, uint treeId, ReadOnlySpan<byte> expected)
    {
        if (LeafPage.Packed(record) != null)
            return PackedReader.HasBytes(reader, record, treeId, expected);
        return Length(record) == expected.Length && Read(reader, record, treeId).SequenceEqual(expected);
    }

    /// <summary>Returns the length of a record's value without reading its extent.</summary>
    /// <exception cref="CorruptionException">The record contains a set of ids, which is impossible in a tree of values.</exception>
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
