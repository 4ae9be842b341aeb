using System.Numerics;
using System.Runtime.CompilerServices;

namespace Voron.Format;

/// <summary>Where the areas of an array page begin. They follow from the size of the page and of a value.</summary>
/// <remarks>
/// <code>
/// | header, 64 bytes | order: a cell number an entry, in key order | keys, 8 bytes a cell | values, a fixed size a cell |
/// </code>
/// A cell number has one byte; two bytes in a page of more than 256 cells. The keys begin at a multiple of 8. In a page of 4 KiB there is room
/// for 237 cells with values of 8 bytes, or for 288 children.
/// </remarks>
internal readonly struct ArrayLayout
{
    /// <summary>Flag of a page whose entries are in key order in its cells, from the first cell on: its order is not used.</summary>
    public const byte InOrderFlag = 1;

    /// <summary>Flag of a branch: its values are page numbers of children.</summary>
    public const byte BranchFlag = 2;

    /// <summary>The key of the first child of a branch, which has all keys below that of the second one.</summary>
    public const long FirstKey = long.MinValue;

    public const int KeySize = sizeof(long);

    /// <summary>The size of a value in a branch: a page number.</summary>
    public const int ChildSize = sizeof(uint);

    public const int OrderStart = PageHeader.Size;

    private const int CellsOfOneByte = byte.MaxValue + 1;
    private const int KeyAlignment = 8;
    private const int LeastPageBits = 12;

    // Those of the five page sizes.
    private static readonly ArrayLayout[] Branches = [.. Enumerable.Range(LeastPageBits, 5).Select(bits => new ArrayLayout(1 << bits, ChildSize))];

    /// <summary>The number of cells in a page.</summary>
    public readonly int Capacity;

    /// <summary>Bytes of a value.</summary>
    public readonly int ValueSize;

    /// <summary>The offset of the key in the first cell.</summary>
    public readonly int KeysStart;

    /// <summary>The offset of the value in the first cell.</summary>
    public readonly int ValuesStart;

    /// <param name="pageSize">Bytes of a page.</param>
    /// <param name="valueSize">Bytes of a value, 0 to <see cref="MaxValueSize"/>.</param>
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

    /// <summary>True if the cell numbers of the order have two bytes.</summary>
    public bool IsWide
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Capacity > CellsOfOneByte;
    }

    /// <summary>The largest size of a value in bytes: at least seven entries fit into a page.</summary>
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
