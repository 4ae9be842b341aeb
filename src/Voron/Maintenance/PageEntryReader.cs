using Voron.Format;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Pages;

namespace Voron.Maintenance;

/// <summary>Reads the entries of a leaf or a branch that may be damaged: follows no offset that leads out of the page.</summary>
internal static unsafe class PageEntryReader
{
    /// <summary>Returns the entries; those that cannot be read have a fault.</summary>
    /// <param name="page">The page.</param>
    /// <param name="pageSize">Its size in bytes.</param>
    public static List<PageEntryDescription> Read(byte* page, int pageSize)
    {
        var isLeaf = ((PageHeader*)page)->Kind == PageKind.Leaf;
        var count = Math.Min(SlottedPage.Count(page), SlottedPage.Capacity(pageSize) / SlottedPage.SlotSize);
        var entries = new List<PageEntryDescription>(count);
        for (var i = 0; i < count; i++)
        {
            int offset = SlottedPage.Slots(page)[i];
            entries.Add(isLeaf ? ReadLeaf(page, pageSize, i, offset) : ReadBranch(page, pageSize, i, offset));
        }

        return entries;
    }

    private static PageEntryDescription ReadLeaf(byte* page, int pageSize, int index, int offset)
    {
        var entry = new PageEntryDescription(index, offset);
        var record = page + offset;
        if ((FindFault(pageSize, offset, LeafRecordHeader.Size) ?? FindFault(pageSize, offset, LeafPage.RecordSize(record))) is { } fault)
            return entry with { Fault = fault };
        entry = entry with
        {
            Key = LeafPage.Key(record).ToArray(),
            Kind = LeafPage.Kind(record),
            ValueBytes = LeafPage.InlineLength(record),
            RecordBytes = LeafPage.RecordSize(record),
        };
        var behind = LeafPage.InlineBytes(record);
        return (entry.Kind, entry.ValueBytes) switch
        {
            (ValueKind.Inline, _) => entry,
            (ValueKind.Overflow, OverflowReference.Size) => entry with
            {
                ValueBytes = ((OverflowReference*)behind)->Length,
                Page = ((OverflowReference*)behind)->FirstPage,
            },
            (ValueKind.LargeExtent, LargeExtentReference.Size) => entry with
            {
                ValueBytes = ((LargeExtentReference*)behind)->Length,
                Page = ((LargeExtentReference*)behind)->FirstPage,
            },
            (ValueKind.Extended, { } length) when LeafPage.Packed(record) != null && ExtendedRecord.IsSound(behind, (int)length) => entry with
            {
                Form = *(ExtendedForm*)behind,
                ValueBytes = LeafPage.Packed(record)->Length,
                Page = LeafPage.Overflow(record) is var block && block != null ? block->FirstPage : null,
            },
            (ValueKind.Extended, { } length) when ExtendedRecord.IsSound(behind, (int)length) => entry with
            {
                Form = *(ExtendedForm*)behind,
                Ids = InlineIds.Count(behind),
                Page = *(ExtendedForm*)behind == ExtendedForm.IdSet ? ((IdSetReference*)behind)->Root : null,
            },
            _ => entry with { Fault = $"a value of kind {(int)entry.Kind!} cannot have {entry.ValueBytes} bytes in a leaf" },
        };
    }

    private static PageEntryDescription ReadBranch(byte* page, int pageSize, int index, int offset)
    {
        var entry = new PageEntryDescription(index, offset);
        var record = page + offset;
        if ((FindFault(pageSize, offset, BranchRecordHeader.Size) ?? FindFault(pageSize, offset, BranchPage.RecordSize(record))) is { } fault)
            return entry with { Fault = fault };
        return entry with
        {
            Key = BranchPage.Key(record).ToArray(),
            Page = ((BranchRecordHeader*)record)->Child,
            RecordBytes = BranchPage.RecordSize(record),
        };
    }

    // Called first for the record header alone, because the size of the record is not known without it.
    private static string? FindFault(int pageSize, int offset, int bytes) =>
        offset < PageHeader.Size ? $"its slot leads to offset {offset}, where no record can be"
        : bytes > pageSize - offset ? $"its record of {bytes} bytes at offset {offset} extends past the page"
        : null;
}
