using System.Runtime.CompilerServices;

namespace Voron.Format;

/// <summary>Checks that the bytes of an array page are consistent: part of <see cref="PageStructure"/>.</summary>
/// <remarks>
/// A page that passes has these properties: the size of its values is possible; it contains at least one entry, and no more cells than its layout;
/// the order contains each cell in use exactly once; keys ascend; the first key of a branch is -2^63; children are page numbers.
/// </remarks>
internal static unsafe class ArrayStructure
{
    private const int WordBits = 64;

    /// <summary>Returns null if the page is sound, otherwise a description of the fault.</summary>
    public static string? FindFault(byte* page, int pageSize)
    {
        var header = (PageHeader*)page;
        if ((header->Flags & ~(ArrayLayout.InOrderFlag | ArrayLayout.BranchFlag)) != 0)
            return $"it is an array page with the unknown flags {header->Flags:x2}";

        var isBranch = (header->Flags & ArrayLayout.BranchFlag) != 0;
        int valueSize = header->ValueSize;
        if (isBranch ? valueSize != ArrayLayout.ChildSize : valueSize > ArrayLayout.MaxValueSize(pageSize))
            return $"it is an array page with values of {valueSize} bytes";

        var layout = new ArrayLayout(pageSize, valueSize);
        int count = header->EntryCount;
        int cells = header->ArrayCells;
        var isInOrder = (header->Flags & ArrayLayout.InOrderFlag) != 0;
        if (count == 0 || count > cells || cells > layout.Capacity || (isInOrder && count != cells))
            return $"it claims {count} entries in {cells} of {layout.Capacity} cells{(isInOrder ? ", in order" : "")}";

        if (!isInOrder && FindFaultOfOrder(page, cells, layout.IsWide) is { } fault)
            return fault;
        return FindFaultOfEntries(page, layout, isInOrder, isBranch);
    }

    [SkipLocalsInit]
    private static string? FindFaultOfOrder(byte* page, int cells, bool isWide)
    {
        var words = (cells + WordBits - 1) / WordBits;
        var taken = stackalloc ulong[words];
        new Span<ulong>(taken, words).Clear();
        for (var i = 0; i < cells; i++)
        {
            var cell = Cell(page, i, isWide);
            if (cell >= cells)
                return $"position {i} of its order names cell {cell} of {cells}";
            if ((taken[cell / WordBits] >> (cell % WordBits) & 1) != 0)
                return $"its order names cell {cell} twice";
            taken[cell / WordBits] |= 1UL << (cell % WordBits);
        }

        return null;
    }

    private static string? FindFaultOfEntries(byte* page, in ArrayLayout layout, bool isInOrder, bool isBranch)
    {
        int count = ((PageHeader*)page)->EntryCount;
        var keys = (long*)(page + layout.KeysStart);
        var children = (uint*)(page + layout.ValuesStart);
        long before = 0;
        for (var i = 0; i < count; i++)
        {
            var cell = isInOrder ? i : Cell(page, i, layout.IsWide);
            if (isBranch && i == 0 && keys[cell] != ArrayLayout.FirstKey)
                return $"the key of its first child is {keys[cell]}, not {ArrayLayout.FirstKey}";
            if (i > 0 && keys[cell] <= before)
                return $"key {i}, {keys[cell]}, is not above the previous key, {before}";
            if (isBranch && children[cell] is 0 or uint.MaxValue)
                return $"its child {i} is page {children[cell]}";
            before = keys[cell];
        }

        return null;
    }

    private static int Cell(byte* page, int index, bool isWide) =>
        isWide ? ((ushort*)(page + ArrayLayout.OrderStart))[index] : page[ArrayLayout.OrderStart + index];
}
