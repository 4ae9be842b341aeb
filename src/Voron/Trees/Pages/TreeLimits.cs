using System.Diagnostics.CodeAnalysis;
using Voron.Format;
using Voron.Testing;

namespace Voron.Trees.Pages;

/// <summary>Limits derived from the page size: the longest key, the longest value in a leaf, and the number of pages in an extent.</summary>
internal static class TreeLimits
{
    /// <summary>The maximum number of levels of a tree.</summary>
    public const int MaxDepth = StateStructure.MaxDepth;

    /// <summary>The maximum length of a tree's name in UTF-8 bytes.</summary>
    public const int MaxNameBytes = StorageOptions.MaxTreeNameBytes;

    private const int SlotBytes = sizeof(ushort);

    /// <summary>Returns the maximum key length in bytes: 960 with 4 KiB pages. At least four entries with such keys fit into any page.</summary>
    public static int MaxKeyLength(int pageSize) => PageStructure.MaxKeyLength(pageSize);

    /// <summary>Returns whether a value is stored in the leaf: record and slot must take at most half of the page's capacity.</summary>
    public static bool IsInline(int pageSize, int keyLength, int valueLength) =>
        valueLength <= pageSize &&
        LeafRecordHeader.Size + keyLength + valueLength + SlotBytes <= (pageSize - PageHeader.Size) / 2;

    /// <summary>Returns the number of pages in an overflow extent with <paramref name="length"/> bytes after its header.</summary>
    public static int OverflowPages(int pageSize, long length) => checked((int)((length + PageHeader.Size + pageSize - 1) / pageSize));

    /// <exception cref="ArgumentException">The key is empty or longer than a page of this size allows.</exception>
    public static void CheckKey(int pageSize, ReadOnlySpan<byte> key)
    {
        if (key.Length == 0 || key.Length > MaxKeyLength(pageSize) + (PlantedFault.AllowLongerKeys ? 1 : 0))
            ThrowKeyLength(key, MaxKeyLength(pageSize));
    }

    [DoesNotReturn]
    private static void ThrowKeyLength(ReadOnlySpan<byte> key, int max) =>
        throw new ArgumentException($"A key must have 1 to {max} bytes at this page size, but this one has {key.Length}.", nameof(key));
}
