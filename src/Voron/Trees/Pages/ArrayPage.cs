using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Trees.Pages;

/// <summary>
/// Reads and edits an array page: 64-bit keys in ascending order, each with a fixed-size value. A page whose values are the page numbers of children
/// is a branch.
/// </summary>
/// <remarks>
/// <para>
/// Keys are compared as signed integers. An entry is stored in a <em>cell</em>, which it keeps. The order contains the cell numbers.
/// </para>
/// <code>
/// order:  | cells of the entries, in key order | cells that are free, the last one freed first |
///          0                                    entry count                        cells in use
/// </code>
/// <list type="number">
/// <item>Up to the number of cells in use, the order is a permutation of their numbers. It does not include cells that were never used.</item>
/// <item>A page whose keys were only appended is <em>in order</em>: entry i is in cell i, no cell below the cells in use is free, and the bytes of
/// the order are meaningless. The first change that breaks this writes the order.</item>
/// <item>Entries at the end are dropped by lowering counts in the header: their cells become free, and no other byte changes. Apart from that, a
/// split writes only the new page, and the journal contains no moved bytes of the old one.</item>
/// </list>
/// All calls trust the page: <see cref="PageStructure"/> has checked it, and the caller has checked its value size and its role.
/// </remarks>
internal static unsafe class ArrayPage
{
    private const int HeaderStart = 41;
    private const int HeaderBytes = 54 - HeaderStart;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int Count(byte* page) => ((PageHeader*)page)->EntryCount;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int ValueSize(byte* page) => ((PageHeader*)page)->ValueSize;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsBranch(byte* page) => (((PageHeader*)page)->Flags & ArrayLayout.BranchFlag) != 0;

    /// <summary>Returns whether entry i is in cell i.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsInOrder(byte* page) => (((PageHeader*)page)->Flags & ArrayLayout.InOrderFlag) != 0;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static bool IsFull(byte* page, in ArrayLayout layout) => Count(page) >= layout.Capacity;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static long Key(byte* page, in ArrayLayout layout, int index) => *KeyInCell(page, layout, Cell(page, layout, index));

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* Value(byte* page, in ArrayLayout layout, int index) => ValueInCell(page, layout, Cell(page, layout, index));

    /// <summary>Returns the child of an entry in a branch.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static PageNumber Child(byte* page, in ArrayLayout layout, int index) => new(*(uint*)Value(page, layout, index));

    /// <summary>Returns the number of entries with keys below the given one.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static int CountBelow(byte* page, in ArrayLayout layout, long key)
    {
        var keys = (long*)(page + layout.KeysStart);
        var count = Count(page);
        if (IsInOrder(page))
            return ArraySearch.CountBelow(keys, count, key);

        var order = page + ArrayLayout.OrderStart;
        return layout.IsWide ? ArraySearch.CountBelow(keys, (ushort*)order, count, key) : ArraySearch.CountBelow(keys, order, count, key);
    }

    /// <summary>Returns the index of the entry with this key; if there is none, the complement of its insertion index.</summary>
    public static int Search(byte* page, in ArrayLayout layout, long key)
    {
        var index = CountBelow(page, layout, key);
        return index < Count(page) && Key(page, layout, index) == key ? index : ~index;
    }

    /// <summary>
    /// Returns the index of the child for a key in a branch: the last child whose own key is not above that key. All keys below that of the
    /// second child belong to the first.
    /// </summary>
    public static int FindChild(byte* page, in ArrayLayout layout, long key)
    {
        var index = CountBelow(page, layout, key);
        return index < Count(page) && Key(page, layout, index) == key ? index : Math.Max(0, index - 1);
    }

    /// <summary>Initializes a newly allocated page as empty. An entry must be added before the operation ends.</summary>
    /// <param name="page">The page.</param>
    /// <param name="layout">The layout of its values.</param>
    /// <param name="isBranch">True if the values are children.</param>
    /// <param name="treeMark">The mark of its tree: <see cref="PageHeader.TreeMark"/>.</param>
    public static void Initialize(in WritablePage page, in ArrayLayout layout, bool isBranch, uint treeMark)
    {
        Debug.Assert(!isBranch || layout.ValueSize == ArrayLayout.ChildSize, "The values of a branch are page numbers.");
        var header = page.Header;
        header->Flags = (byte)(ArrayLayout.InOrderFlag | (isBranch ? ArrayLayout.BranchFlag : 0));
        header->ValueSize = (ushort)layout.ValueSize;
        header->TreeMark = treeMark;
        MarkHeader(page);
    }

    /// <summary>Inserts an entry at an index into a page that is not full, and returns the address of its value, which the caller writes.</summary>
    public static byte* Insert(in WritablePage page, in ArrayLayout layout, int index, long key)
    {
        var header = page.Header;
        int count = header->EntryCount;
        int cells = header->ArrayCells;
        Debug.Assert(count < layout.Capacity && index <= count, "The page must have room, and the index must be in it.");
        var cell = count;
        if (index != count || !IsInOrder(page.Bytes))
        {
            WriteOrder(page, layout);
            if (count < cells)
                cell = Cell(page.Bytes, layout, count);
            if (layout.IsWide)
                InsertCell((ushort*)(page.Bytes + ArrayLayout.OrderStart), index, count, (ushort)cell);
            else
                InsertCell(page.Bytes + ArrayLayout.OrderStart, index, count, (byte)cell);
            MarkOrder(page, layout, index, count + 1 - index);
        }

        if (count == cells)
            header->ArrayCells = (ushort)(cells + 1);
        header->EntryCount = (ushort)(count + 1);
        MarkHeader(page);

        *KeyInCell(page.Bytes, layout, cell) = key;
        MarkKey(page, layout, cell);
        MarkValueInCell(page, layout, cell);
        return ValueInCell(page.Bytes, layout, cell);
    }

    /// <summary>Inserts a child at an index into a branch that is not full.</summary>
    public static void InsertChild(in WritablePage page, in ArrayLayout layout, int index, long key, PageNumber child) =>
        *(uint*)Insert(page, layout, index, key) = (uint)child.Value;

    /// <summary>Returns the address of an entry's value, which the caller overwrites.</summary>
    public static byte* ModifyValue(in WritablePage page, in ArrayLayout layout, int index)
    {
        var cell = Cell(page.Bytes, layout, index);
        MarkValueInCell(page, layout, cell);
        return ValueInCell(page.Bytes, layout, cell);
    }

    /// <summary>Sets the page number of a child.</summary>
    public static void SetChild(in WritablePage page, in ArrayLayout layout, int index, PageNumber child) =>
        *(uint*)ModifyValue(page, layout, index) = (uint)child.Value;

    /// <summary>Sets the key of an entry, which must remain between those of its neighbours.</summary>
    public static void SetKey(in WritablePage page, in ArrayLayout layout, int index, long key)
    {
        var cell = Cell(page.Bytes, layout, index);
        *KeyInCell(page.Bytes, layout, cell) = key;
        MarkKey(page, layout, cell);
    }

    /// <summary>Gives the first child of a branch the key <see cref="ArrayLayout.FirstKey"/>, because the children before it were removed.</summary>
    public static void SetFirstKey(in WritablePage branch, in ArrayLayout layout)
    {
        SetKey(branch, layout, 0, PlantedFault.KeepKeyOfFirst ? Key(branch.Bytes, layout, 0) : ArrayLayout.FirstKey);
    }

    public static void Remove(in WritablePage page, in ArrayLayout layout, int index) => RemoveRange(page, layout, index, index + 1);

    /// <summary>
    /// Removes the entries from one index up to, but not including, another. A page without entries must be freed before the operation ends.
    /// </summary>
    public static void RemoveRange(in WritablePage page, in ArrayLayout layout, int from, int to)
    {
        var header = page.Header;
        int count = header->EntryCount;
        var left = count - (to - from);
        if (to != count)
        {
            WriteOrder(page, layout);
            if (layout.IsWide)
                Rotate(new Span<ushort>(page.Bytes + ArrayLayout.OrderStart, count)[from..], to - from);
            else
                Rotate(new Span<byte>(page.Bytes + ArrayLayout.OrderStart, count)[from..], to - from);
            MarkOrder(page, layout, from, count - from);
        }
        else if (IsInOrder(page.Bytes))
        {
            header->ArrayCells = (ushort)left;
        }

        header->EntryCount = (ushort)left;
        MarkHeader(page);
    }

    /// <summary>Drops the entries from <paramref name="count"/> on, which are now in another page. No bytes move.</summary>
    public static void Truncate(in WritablePage page, in ArrayLayout layout, int count) =>
        RemoveRange(page, layout, count, Count(page.Bytes));

    /// <summary>Copies entries to the end of another page of the same layout, which must have room for them and only lower keys.</summary>
    public static void Append(byte* source, in ArrayLayout layout, int from, int to, in WritablePage target)
    {
        for (var i = from; i < to; i++)
        {
            var cell = Cell(source, layout, i);
            var value = Insert(target, layout, Count(target.Bytes), *KeyInCell(source, layout, cell));
            Unsafe.CopyBlockUnaligned(value, ValueInCell(source, layout, cell), (uint)layout.ValueSize);
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static int Cell(byte* page, in ArrayLayout layout, int index)
    {
        if (IsInOrder(page))
            return index;
        return layout.IsWide ? ((ushort*)(page + ArrayLayout.OrderStart))[index] : page[ArrayLayout.OrderStart + index];
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static long* KeyInCell(byte* page, in ArrayLayout layout, int cell) => (long*)(page + layout.KeysStart) + cell;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static byte* ValueInCell(byte* page, in ArrayLayout layout, int cell) => page + layout.ValuesStart + cell * layout.ValueSize;

    /// <summary>Writes the order of a page that is still in order.</summary>
    private static void WriteOrder(in WritablePage page, in ArrayLayout layout)
    {
        if (!IsInOrder(page.Bytes))
            return;

        int cells = page.Header->ArrayCells;
        var order = page.Bytes + ArrayLayout.OrderStart;
        for (var i = 0; i < cells && !PlantedFault.ForgetOrder; i++)
        {
            if (layout.IsWide)
                ((ushort*)order)[i] = (ushort)i;
            else
                order[i] = (byte)i;
        }

        MarkOrder(page, layout, 0, cells);
        page.Header->Flags &= unchecked((byte)~ArrayLayout.InOrderFlag);
        MarkHeader(page);
    }

    // The cell follows the entries in the order, or is not in it: the last entry overwrites its place.
    private static void InsertCell<T>(T* order, int index, int count, T cell)
        where T : unmanaged
    {
        var bytes = (long)(count - index) * sizeof(T);
        Buffer.MemoryCopy(order + index, order + index + 1, bytes, bytes);
        order[index] = cell;
    }

    /// <summary>Moves the first cells after the others.</summary>
    [SkipLocalsInit]
    private static void Rotate<T>(Span<T> cells, int first)
        where T : unmanaged
    {
        Span<T> moved = stackalloc T[first];
        cells[..first].CopyTo(moved);
        cells[first..].CopyTo(cells);
        moved.CopyTo(cells[^first..]);
    }

    // All of these bytes are in the first line, whatever the page size.
    private static void MarkHeader(in WritablePage page) => page.MarkDirty(HeaderStart, HeaderBytes);

    private static void MarkOrder(in WritablePage page, in ArrayLayout layout, int index, int count)
    {
        var size = layout.IsWide ? sizeof(ushort) : sizeof(byte);
        page.MarkDirty(ArrayLayout.OrderStart + index * size, count * size);
    }

    private static void MarkKey(in WritablePage page, in ArrayLayout layout, int cell) =>
        page.MarkDirty(layout.KeysStart + cell * ArrayLayout.KeySize, ArrayLayout.KeySize);

    private static void MarkValueInCell(in WritablePage page, in ArrayLayout layout, int cell) =>
        page.MarkDirty(layout.ValuesStart + cell * layout.ValueSize, layout.ValueSize);
}
