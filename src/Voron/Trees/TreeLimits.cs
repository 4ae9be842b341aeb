using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>What follows from the page size: the longest key, what still fits into a leaf, how many pages a run needs.</summary>
internal static class TreeLimits
{
    /// <summary>Levels a tree can have.</summary>
    public const int MaxDepth = StateStructure.MaxDepth;

    /// <summary>Bytes of a tree's name in UTF-8.</summary>
    public const int MaxNameBytes = 255;

    private const int SlotBytes = sizeof(ushort);

    /// <summary>The longest key in bytes: 960 with pages of 4 KiB. At least four entries of it fit into any page.</summary>
    public static int MaxKeyLength(int pageSize) => PageStructure.MaxKeyLength(pageSize);

    /// <summary>Whether a value goes into the leaf: record and slot take at most half of what the page can hold.</summary>
    public static bool IsInline(int pageSize, int keyLength, int valueLength) =>
        valueLength <= pageSize &&
        LeafRecordHeader.Size + keyLength + valueLength + SlotBytes <= (pageSize - PageHeader.Size) / 2;

    /// <summary>Pages of an overflow run that holds <paramref name="length"/> bytes behind its header.</summary>
    public static int OverflowPages(int pageSize, long length) => checked((int)((length + PageHeader.Size + pageSize - 1) / pageSize));

    /// <summary>Pages of a run without header that holds <paramref name="length"/> bytes.</summary>
    public static int LargeExtentPages(int pageSize, long length) => checked((int)((length + pageSize - 1) / pageSize));

    /// <exception cref="ArgumentException">The key is empty or longer than a page of this size allows.</exception>
    public static void CheckKey(int pageSize, ReadOnlySpan<byte> key)
    {
        if (key.Length == 0 || key.Length > MaxKeyLength(pageSize) + (PlantedFault.AllowLongerKeys ? 1 : 0))
            ThrowKeyLength(key.Length, MaxKeyLength(pageSize));
    }

    [DoesNotReturn]
    private static void ThrowKeyLength(int length, int max) =>
        throw new ArgumentException($"A key has 1 to {max} bytes at this page size; this one has {length}.", nameof(length));
}
