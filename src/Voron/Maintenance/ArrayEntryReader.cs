using Voron.Format;
using Voron.Trees.Pages;

namespace Voron.Maintenance;

/// <summary>Reads the entries of an array page that may be damaged: follows no cell number that leads out of the page.</summary>
internal static unsafe class ArrayEntryReader
{
    /// <summary>Returns the entries; those that cannot be read have a fault.</summary>
    /// <param name="page">The page.</param>
    /// <param name="pageSize">Its size in bytes.</param>
    public static List<PageEntryDescription> Read(byte* page, int pageSize)
    {
        var isBranch = ArrayPage.IsBranch(page);
        var valueSize = ArrayPage.ValueSize(page);
        if (isBranch ? valueSize != ArrayLayout.ChildSize : valueSize > ArrayLayout.MaxValueSize(pageSize))
            return [];

        var layout = new ArrayLayout(pageSize, valueSize);
        var count = Math.Min(ArrayPage.Count(page), layout.Capacity);
        var entries = new List<PageEntryDescription>(count);
        for (var i = 0; i < count; i++)
        {
            var cell = Cell(page, layout, i);
            var offset = layout.KeysStart + cell * ArrayLayout.KeySize;
            var entry = new PageEntryDescription(i, offset);
            entries.Add(cell >= layout.Capacity
                ? entry with { Fault = $"its cell is {cell}, but the page has {layout.Capacity}" }
                : Describe(entry, page, layout, cell, isBranch));
        }

        return entries;
    }

    private static PageEntryDescription Describe(PageEntryDescription entry, byte* page, in ArrayLayout layout, int cell, bool isBranch)
    {
        // An order number is not part of a record, so its bytes count for the entry.
        var order = layout.IsWide ? sizeof(ushort) : sizeof(byte);
        entry = entry with
        {
            Key = ArrayKey.ToBytes(*(long*)(page + entry.Offset)),
            RecordBytes = ArrayLayout.KeySize + layout.ValueSize + order - sizeof(ushort),
        };
        return isBranch
            ? entry with { Page = *(uint*)(page + layout.ValuesStart + cell * layout.ValueSize) }
            : entry with { Kind = ValueKind.Inline, ValueBytes = layout.ValueSize };
    }

    private static int Cell(byte* page, in ArrayLayout layout, int index) =>
        ArrayPage.IsInOrder(page) ? index
        : layout.IsWide ? ((ushort*)(page + ArrayLayout.OrderStart))[index]
        : page[ArrayLayout.OrderStart + index];
}
