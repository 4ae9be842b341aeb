using System.Numerics;
using System.Runtime.CompilerServices;

namespace Voron.Format;

/// <summary>The offsets of the areas of an array page. They follow from the page size and the value size.</summary>
/// <remarks>
/// <code>
/// | header, 64 bytes | order: one cell number per entry, in key order | keys, 8 bytes per cell | values, a fixed size per cell |
/// </code>
/// A cell number takes one byte, or two bytes in a page with more than 256 cells. The keys begin at a multiple of 8. A page of 4 KiB has room for 237
/// cells with values of 8 bytes, or for 288 children.
/// </remarks>
internal readonly struct ArrayLayout
{
    /// <summary>Flag of a page whose cells contain its entries in key order, from the first cell on. The order area is not used.</summary>
    public const byte InOrderFlag = 1;

    /// <summary>Flag of a branch, whose values are the page numbers of its children.</summary>
    public const byte BranchFlag = 2;

    /// <summary>The key of the first child of a branch, which contains all keys below that of the second child.</summary>
    public const long FirstKey = long.MinValue;

    public const int KeySize = sizeof(long);

    /// <summary>The size of a value in a branch: a page number.</summary>
    public const int ChildSize = sizeof(uint);

    public const int OrderStart = PageHeader.Size;

    private const int CellsOfOneByte = byte.MaxValue + 1;
    private const int KeyAlignment = 8;
    private const int LeastPageBits = 12;

    // One layout for each of the five page sizes.
    private static readonly ArrayLayout[] Branches = [.. Enumerable.Range(LeastPageBits, 5).Select(bits => new ArrayLayout(1 << bits, ChildSize))];

    /// <summary>The number of cells in a page.</summary>
    public readonly int Capacity;

    /// <summary>The size of a value in bytes.</summary>
    public readonly int ValueSize;

    /// <summary>The offset of the key in the first cell.</summary>
    public readonly int KeysStart;

    /// <summary>The offset of the value in the first cell.</summary>
    public readonly int ValuesStart;

    /// <param name="pageSize">The page size in bytes.</param>
    /// <param name="valueSize">The size of a value in bytes, 0 to <see cref="MaxValueSize"/>.</param>
    public ArrayLayout(int pageSize, int valueSize)
    {
        var room = pageSize - PageHeader.Size;
        var cell = KeySize + valueSize;
        var capacity = CellsIn(room, cell, sizeof(byte));
        if (capacity > CellsOfOneByte)
            capacity = Math.Max(CellsOfOneByte, CellsIn(room, cell, sizeof(ushort)));

        Capacity = capacity;
        ValueSize = valueSize;
        KeysStart = OrderStart + OrderBytes(capacity, IsWide ? sizeof(ushort) : sizeof(byte));
        ValuesStart = KeysStart + capacity * KeySize;
    }

    /// <summary>True if the cell numbers of the order take two bytes.</summary>
    public bool IsWide
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Capacity > CellsOfOneByte;
    }

    /// <summary>The maximum size of a value in bytes. At least seven entries with such values fit into a page.</summary>
    public static int MaxValueSize(int pageSize) => pageSize / 8;

    /// <summary>Returns the layout of the branches of an environment.</summary>
    public static ref readonly ArrayLayout OfBranches(int pageSize) => ref Branches[BitOperations.Log2((uint)pageSize) - LeastPageBits];

    private static int CellsIn(int room, int cell, int orderSize)
    {
        var cells = room / (cell + orderSize);
        while (OrderBytes(cells, orderSize) + cells * cell > room)
            cells--;
        return cells;
    }

    private static int OrderBytes(int cells, int orderSize) => (cells * orderSize + KeyAlignment - 1) & -KeyAlignment;
}
