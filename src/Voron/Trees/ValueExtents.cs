using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Manages the extents of values too long for a leaf.</summary>
internal static unsafe class ValueExtents
{
    private const int ExtentBytesOffset = 56;

    /// <summary>Allocates a new extent, whose bytes are still zero.</summary>
    public static byte* Allocate(PageWriter writer, TreeState state, int length, PageNumber near, out OverflowReference reference)
    {
        var extent = writer.AllocateExtent(length, near);
        state.OverflowPages += TreeLimits.OverflowPages(writer.PageSize, length);
        state.Changed = true;
        reference = new OverflowReference { FirstPage = extent.Header->PageNumber, Length = length };
        return extent.Bytes + PageHeader.Size;
    }

    /// <summary>
    /// Prepares the extent of an uncompressed overflow value for a new value of the same number of pages. Returns false if the new value needs a
    /// different number of pages, or if the record has no such extent.
    /// </summary>
    public static bool TryReuse(PageWriter writer, in WritablePage leaf, byte* record, int length, out byte* destination)
    {
        destination = null;
        if (LeafPage.Kind(record) != ValueKind.Overflow)
            return false;

        var reference = (OverflowReference*)LeafPage.InlineBytes(record);
        var pages = TreeLimits.OverflowPages(writer.PageSize, length);
        if (TreeLimits.OverflowPages(writer.PageSize, reference->Length) != pages)
            return false;

        var first = new PageNumber(reference->FirstPage);
        TreePages.ReadExtent(writer, first, reference->Length);
        var extent = writer.ModifyExtent(first);
        if (reference->Length != length)
        {
            extent.Header->ExtentBytes = length;
            extent.MarkDirty(ExtentBytesOffset, sizeof(long));
            reference->Length = length;
            leaf.MarkDirty((int)((byte*)reference - leaf.Bytes), OverflowReference.Size);
        }

        extent.MarkDirty(PageHeader.Size, length);
        destination = extent.Bytes + PageHeader.Size;
        return true;
    }

    /// <summary>Frees the pages of a record's value, if it has any. The record itself does not change.</summary>
    public static void Free(PageWriter writer, TreeState state, byte* record)
    {
        var kind = LeafPage.Kind(record);
        if (state.Kind == TreeKind.IdSets && LeafPage.Packed(record) != null)
            TreeErrors.ThrowNoSet(record);
        var overflow = LeafPage.Overflow(record);
        if (overflow != null)
            FreeOverflow(writer, state, *overflow);
        else if (kind == ValueKind.LargeExtent)
            FreeLargeExtent(writer, state, *(LargeExtentReference*)LeafPage.InlineBytes(record));
        else if (kind == ValueKind.Extended && LeafPage.Packed(record) == null)
            FreeSet(writer, state, record);
    }

    private static void FreeSet(PageWriter writer, TreeState state, byte* record)
    {
        if (state.Kind != TreeKind.IdSets)
            TreeErrors.ThrowExtended(record);
        var behind = LeafPage.InlineBytes(record);
        var hasPages = *(ExtendedForm*)behind == ExtendedForm.IdSet;
        var set = hasPages ? *(IdSetReference*)behind : default;
        var ids = InlineIds.Count(behind);
        IdSetErrors.CheckClaims(writer, (ids, set.Pages), (state.NestedValues, state.NestedPages));
        state.NestedValues -= ids;
        state.NestedPages -= set.Pages;
        state.Changed = true;
        if (!hasPages)
            return;
        IdSetWriter.FreeAll(writer, IdSetMarks.Of(writer, state.TreeId, LeafPage.Key(record)), ref set);
    }

    /// <summary>Frees some, but not all, pages of a set, and updates its record.</summary>
    /// <param name="writer">The pages of the tree.</param>
    /// <param name="state">The tree.</param>
    /// <param name="leaf">The leaf that contains the record.</param>
    /// <param name="record">The record.</param>
    /// <param name="most">The number of pages: see <see cref="IdSetWriter.FreeSome"/>.</param>
    public static void FreeSomeOfSet(PageWriter writer, TreeState state, in WritablePage leaf, byte* record, long most)
    {
        var reference = (IdSetReference*)LeafPage.InlineBytes(record);
        var set = *reference;
        IdSetErrors.CheckClaims(writer, (set.Ids, set.Pages), (state.NestedValues, state.NestedPages));
        IdSetWriter.FreeSome(writer, IdSetMarks.Of(writer, state.TreeId, LeafPage.Key(record)), ref set, most);
        state.NestedValues -= reference->Ids - set.Ids;
        state.NestedPages -= (long)reference->Pages - set.Pages;
        state.Changed = true;
        *reference = set;
        leaf.MarkDirty((int)((byte*)reference - leaf.Bytes), IdSetReference.Size);
    }

    public static void FreeOverflow(PageWriter writer, TreeState state, in OverflowReference reference)
    {
        var pages = TreeLimits.OverflowPages(writer.PageSize, reference.Length);
        writer.FreeExtent(new PageNumber(reference.FirstPage), pages);
        state.OverflowPages -= pages;
        state.Changed = true;
    }

    /// <summary>Returns the reference to a large extent, after writing the checksums of several chunks to an extent of their own.</summary>
    /// <param name="writer">The pages.</param>
    /// <param name="firstPage">The first page of the large extent.</param>
    /// <param name="length">The length of the value in bytes.</param>
    /// <param name="checksums">One for each chunk.</param>
    /// <param name="near">A page of the tree.</param>
    public static LargeExtentReference Describe(PageWriter writer, long firstPage, long length, ReadOnlySpan<ulong> checksums, PageNumber near)
    {
        var reference = new LargeExtentReference { FirstPage = firstPage, Length = length, Checksums = checksums[0] };
        if (reference.IsOneChunk)
            return reference;
        var descriptor = writer.AllocateExtent(checksums.Length * sizeof(ulong), near);
        checksums.CopyTo(new Span<ulong>(descriptor.Bytes + PageHeader.Size, checksums.Length));
        reference.Checksums = (ulong)descriptor.Header->PageNumber;
        return reference;
    }

    /// <summary>Returns the number of pages of a large extent and its checksums, as counted in the header of the tree.</summary>
    public static long CountPages(PageReader reader, in LargeExtentReference reference) =>
        LargeValues.PageCount(reader.PageSize, reference.Length) + ChecksumPages(reader, reference);

    public static void FreeLargeExtent(PageWriter writer, TreeState state, in LargeExtentReference reference)
    {
        var pages = LargeValues.PageCount(writer.PageSize, reference.Length);
        var checksumPages = ChecksumPages(writer, reference);
        writer.FreeExtent(new PageNumber(reference.FirstPage), pages);
        if (checksumPages != 0)
            writer.FreeExtent(new PageNumber(reference.ChecksumPage), checksumPages);
        state.OverflowPages -= pages + checksumPages;
        state.Changed = true;
    }

    private static int ChecksumPages(PageReader reader, in LargeExtentReference reference)
    {
        if (reference.ChecksumPage == 0)
            return 0;

        var page = new PageNumber(reference.ChecksumPage);
        var bytes = reader.Read(page);
        if (((PageHeader*)bytes)->Kind != PageKind.Overflow)
            TreeErrors.ThrowKind(reader, page, bytes, PageKind.Overflow);

        return (int)((PageHeader*)bytes)->ExtentPages;
    }
}
