using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Reads the value of a leaf's record, from the leaf or from the value's own extent.</summary>
internal static unsafe class LeafValue
{
    /// <summary>Returns the value of a record, valid as described at <see cref="PageReader.Read"/>.</summary>
    /// <exception cref="CorruptionException">The value cannot match the description in its record, or its bytes are damaged.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> Read(PageReader reader, byte* record)
    {
        if (LeafPage.Kind(record) == ValueKind.Inline)
            return new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record));

        return ReadOutside(reader, record);
    }

    /// <summary>Returns a part of the value of a record. Of a large value, only that part is verified.</summary>
    /// <inheritdoc cref="Read"/>
    public static ReadOnlySpan<byte> ReadPart(PageReader reader, byte* record, long offset, int count) =>
        LeafPage.Kind(record) == ValueKind.LargeExtent
            ? reader.ReadLarge(*(LargeExtentReference*)LeafPage.InlineBytes(record), offset, count)
            : Read(reader, record).Slice((int)offset, count);

    /// <summary>Returns the length of a record's value without reading its extent.</summary>
    /// <exception cref="CorruptionException">The record has a set of ids, which no tree of values can have.</exception>
    public static long Length(byte* record) => LeafPage.Kind(record) switch
    {
        ValueKind.Inline => LeafPage.InlineLength(record),
        ValueKind.Overflow => ((OverflowReference*)LeafPage.InlineBytes(record))->Length,
        ValueKind.LargeExtent => ((LargeExtentReference*)LeafPage.InlineBytes(record))->Length,
        _ => TreeErrors.ThrowExtended(record),
    };

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ReadOnlySpan<byte> ReadOutside(PageReader reader, byte* record)
    {
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
