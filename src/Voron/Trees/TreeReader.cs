using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Trees;

/// <summary>Finds entries of a tree.</summary>
internal static unsafe class TreeReader
{
    /// <summary>Gets the value of a key, valid as described at <see cref="PageReader.Read"/>; returns false when there is none.</summary>
    /// <exception cref="CorruptionException">The value cannot match the description in its record.</exception>
    public static bool TryGet(TreeState state, PageReader reader, ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        var record = Find(state, reader, key);
        if (record == null)
        {
            value = default;
            return false;
        }

        value = Value(reader, record);
        return true;
    }

    public static bool Contains(TreeState state, PageReader reader, ReadOnlySpan<byte> key) =>
        Find(state, reader, key) != null;

    /// <summary>
    /// Returns the record of a key, to be read with <see cref="LeafPage"/>, or null when the tree has no such key. The record also gives
    /// access to the reference of a large extent.
    /// </summary>
    public static byte* Find(TreeState state, PageReader reader, ReadOnlySpan<byte> key)
    {
        if (state.Root.IsNone || key.Length == 0)
            return null;

        fixed (byte* bytes = key)
        {
            var search = new SearchKey(bytes, key.Length);
            return state.KeyHeads?.DataFile is { } heads ? FindByKeyHeads(state, reader, heads, search) : FindInPages(state, reader, search);
        }
    }

    /// <summary>Returns the value of a record, from the leaf or from its overflow extent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static ReadOnlySpan<byte> Value(PageReader reader, byte* record)
    {
        if (LeafPage.Kind(record) == ValueKind.Inline)
            return new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record));

        return OverflowValue(reader, record);
    }

    /// <summary>Returns the length of a record's value without reading its extent.</summary>
    public static long ValueLength(byte* record) => LeafPage.Kind(record) switch
    {
        ValueKind.Inline => LeafPage.InlineLength(record),
        ValueKind.Overflow => ((OverflowReference*)LeafPage.InlineBytes(record))->Length,
        _ => ((LargeExtentReference*)LeafPage.InlineBytes(record))->Length,
    };

    /// <summary>Finds the path to the leaf that has the key or should receive it. The tree must have a root.</summary>
    public static void Descend(TreeState state, PageReader reader, in SearchKey key, out TreePath path)
    {
        Unsafe.SkipInit(out path);
        CheckDepth(state);
        var page = state.Root;
        var last = state.Depth - 1;
        var edge = true;
        for (var level = 0; level < last; level++)
        {
            var bytes = ReadBranch(reader, page);
            var index = BranchPage.Search(bytes, key);
            edge &= index == SlottedPage.Count(bytes) - 1;
            path.Set(level, page, index);
            page = BranchPage.Child(bytes, index);
        }

        path.Set(last, page, 0);
        path.LeafLevel = last;
        path.OnRightEdge = edge;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* ReadBranch(PageReader reader, PageNumber page) => ReadKind(reader, page, PageKind.Branch);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* ReadLeaf(PageReader reader, PageNumber page) => ReadKind(reader, page, PageKind.Leaf);

    public static byte* ReadExtent(PageReader reader, PageNumber first, long length)
    {
        var bytes = reader.Read(first);
        var header = (PageHeader*)bytes;
        if (header->Kind != PageKind.Overflow || header->ExtentBytes != length)
            TreeErrors.ThrowExtent(first, bytes, length);

        // The file, and so the map, may be longer or shorter than the page count: an extent that ends beyond that count has no
        // content there.
        if (header->ExtentPages > reader.PageCount - first.Value)
            TreeErrors.ThrowExtentBeyond(first, header->ExtentPages, reader.PageCount);
        return bytes;
    }

    public static void CheckDepth(TreeState state)
    {
        if ((uint)(state.Depth - 1) >= TreeLimits.MaxDepth)
            TreeErrors.ThrowDepth(state.Depth);
    }

    private static byte* FindInPages(TreeState state, PageReader reader, in SearchKey key)
    {
        var page = state.Root;
        for (var level = state.Depth - 1; level > 0; level--)
            page = FindChild(reader, page, key);
        return FindRecord(reader, page, key);
    }

    private static byte* FindByKeyHeads(TreeState state, PageReader reader, DataFileKeyHeads heads, in SearchKey key)
    {
        var page = state.Root;
        for (var level = state.Depth - 1; level > 0; level--)
            page = FindChildByKeyHeads(state, reader, heads, page, key);
        return FindRecordByKeyHeads(state, reader, heads, page, key);
    }

    private static PageNumber FindChildByKeyHeads(TreeState state, PageReader reader, DataFileKeyHeads heads, PageNumber page, in SearchKey key)
    {
        var home = reader.DataFilePage(page);
        if (home == null)
            return FindChild(reader, page, key);
        if (heads.TryChild(page, home, key, out var child))
            return child;
        var branch = ReadBranch(reader, page);
        state.KeyHeads!.AddBranch(page, branch);
        return BranchPage.Child(branch, BranchPage.Search(branch, key));
    }

    private static byte* FindRecordByKeyHeads(TreeState state, PageReader reader, DataFileKeyHeads heads, PageNumber page, in SearchKey key)
    {
        var home = reader.DataFilePage(page);
        if (home == null)
            return FindRecord(reader, page, key);

        // While the heads are being loaded, the processor translates the page's address.
        CacheLines.Prefetch(home);
        if (heads.TryPlace(page, home, key, out var place))
            return place.Resolve(home, key);
        var leaf = ReadLeaf(reader, page);
        state.KeyHeads!.AddLeaf(page, leaf);
        var index = LeafPage.Search(leaf, key);
        return index < 0 ? null : SlottedPage.Record(leaf, index);
    }

    private static PageNumber FindChild(PageReader reader, PageNumber page, in SearchKey key)
    {
        var branch = ReadBranch(reader, page);
        return BranchPage.Child(branch, BranchPage.Search(branch, key));
    }

    private static byte* FindRecord(PageReader reader, PageNumber page, in SearchKey key)
    {
        var leaf = ReadLeaf(reader, page);
        var index = LeafPage.Search(leaf, key);
        return index < 0 ? null : SlottedPage.Record(leaf, index);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static byte* ReadKind(PageReader reader, PageNumber page, PageKind kind)
    {
        var bytes = reader.Read(page);
        if (((PageHeader*)bytes)->Kind != kind)
            TreeErrors.ThrowKind(page, bytes, kind);

        return bytes;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ReadOnlySpan<byte> OverflowValue(PageReader reader, byte* record)
    {
        var kind = LeafPage.Kind(record);
        var length = ValueLength(record);
        if (kind is not (ValueKind.Overflow or ValueKind.LargeExtent) || length is < 0 or > int.MaxValue)
            TreeErrors.ThrowValueKind(kind, length);
        if (kind == ValueKind.LargeExtent)
            return reader.ReadLarge(*(LargeExtentReference*)LeafPage.InlineBytes(record), 0, (int)length);

        var first = new PageNumber(((OverflowReference*)LeafPage.InlineBytes(record))->FirstPage);
        return new ReadOnlySpan<byte>(ReadExtent(reader, first, length) + PageHeader.Size, (int)length);
    }
}
