using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>Reads the pages of a tree, and checks each against the claim of the link to it.</summary>
internal static unsafe class TreePages
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* ReadBranch(PageReader reader, PageNumber page) => ReadKind(reader, page, PageKind.Branch);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* ReadLeaf(PageReader reader, PageNumber page) => ReadKind(reader, page, PageKind.Leaf);

    /// <summary>Returns the header of an overflow extent, whose content follows in memory.</summary>
    /// <exception cref="CorruptionException">No overflow extent of that length starts at the page, or it ends beyond the last page.</exception>
    public static byte* ReadExtent(PageReader reader, PageNumber first, long length)
    {
        var bytes = reader.Read(first);
        var header = (PageHeader*)bytes;
        if (header->Kind != PageKind.Overflow || header->ExtentBytes != length)
            TreeErrors.ThrowExtent(reader, first, bytes, length);

        // The file, and with it the map, may be longer or shorter than the page count. An extent that ends beyond that count has no content there.
        if (header->ExtentPages > reader.PageCount - first.Value)
            PageErrors.ThrowExtentBeyond(reader, first, header->ExtentPages);
        return bytes;
    }

    /// <summary>Returns whether a span lies at least partly inside a page, so that a change of the page would move its bytes.</summary>
    public static bool Overlaps(ReadOnlySpan<byte> span, byte* page, int pageSize)
    {
        var start = (byte*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(span));
        return start < page + pageSize && start + span.Length > page && span.Length != 0;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static byte* ReadKind(PageReader reader, PageNumber page, PageKind kind)
    {
        var bytes = reader.Read(page);
        if (((PageHeader*)bytes)->Kind != kind)
            TreeErrors.ThrowKind(reader, page, bytes, kind);

        return bytes;
    }
}
