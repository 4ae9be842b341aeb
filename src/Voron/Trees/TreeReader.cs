using System.Runtime.CompilerServices;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.KeyHeads;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Finds entries of a tree.</summary>
internal static unsafe class TreeReader
{
    /// <summary>Gets the value of a key, valid as described at <see cref="PageReader.Read"/>; returns false if the key does not exist.</summary>
    /// <exception cref="CorruptionException">The value contradicts its record.</exception>
    public static bool TryGet(TreeState state, PageReader reader, scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        var record = Find(state, reader, key);
        if (record == null)
        {
            value = default;
            return false;
        }

        value = LeafValue.Read(reader, record, state.TreeId);
        return true;
    }

    /// <summary>Gets the value of a key. A compressed value is decompressed into the caller's buffer, which grows as needed.</summary>
    /// <inheritdoc cref="TryGet"/>
    public static bool TryGetBriefly(
        TreeState state, PageReader reader, scoped ReadOnlySpan<byte> key, ref byte[] buffer, out ReadOnlySpan<byte> value)
    {
        var record = Find(state, reader, key);
        value = default;
        if (record == null)
            return false;
        if (LeafPage.Packed(record) == null)
        {
            value = LeafValue.Read(reader, record, state.TreeId);
            return true;
        }

        var length = LeafPage.Packed(record)->Length;
        if (buffer.Length < length)
            buffer = GC.AllocateUninitializedArray<byte>(length);
        PackedReader.Unpack(reader, record, state.TreeId, buffer.AsSpan(0, length));
        value = buffer.AsSpan(0, length);
        return true;
    }

    public static bool Contains(TreeState state, PageReader reader, ReadOnlySpan<byte> key) =>
        Find(state, reader, key) != null;

    /// <summary>
    /// Returns the record of a key, to be read with <see cref="LeafPage"/>, or null if the tree does not contain the key. The record also gives
    /// access to the reference of a large extent.
    /// </summary>
    public static byte* Find(TreeState state, PageReader reader, scoped ReadOnlySpan<byte> key)
    {
        if (state.Root.IsNone || key.Length == 0)
            return null;

        fixed (byte* bytes = key)
        {
            var search = new SearchKey(bytes, key.Length);
            return state.KeyHeads is { DataFile: not null } keyHeads
                ? FindByKeyHeads(keyHeads, reader, state, search)
                : FindInPages(state, reader, search);
        }
    }

    /// <summary>Finds the path to the leaf that contains the key or would receive it. The tree must have a root.</summary>
    public static void Descend(TreeState state, PageReader reader, in SearchKey key, out TreePath path)
    {
        Unsafe.SkipInit(out path);
        state.CheckDepth(reader);
        var page = state.Root;
        var last = state.Depth - 1;
        var edge = true;
        for (var level = 0; level < last; level++)
        {
            var bytes = TreePages.ReadBranch(reader, page);
            var index = BranchPage.Search(bytes, key);
            edge &= index == SlottedPage.Count(bytes) - 1;
            path.Set(level, page, index);
            page = BranchPage.Child(bytes, index);
        }

        path.Set(last, page, 0);
        path.LeafLevel = last;
        path.OnRightEdge = edge;
    }

    /// <summary>Finds the leaf that contains the key or would receive it. The tree must have a root.</summary>
    public static PageNumber FindLeaf(TreeState state, PageReader reader, ReadOnlySpan<byte> key)
    {
        fixed (byte* bytes = key)
        {
            Descend(state, reader, new SearchKey(bytes, key.Length), out var path);
            return path.Page(path.LeafLevel);
        }
    }

    private static byte* FindInPages(TreeState state, PageReader reader, in SearchKey key)
    {
        var page = state.Root;
        for (var level = state.Depth - 1; level > 0; level--)
            page = FindChild(reader, page, key);
        return FindRecord(reader, page, key);
    }

    // The addresses are looked up in this small method, because the searches below already inline a lot of code.
    private static byte* FindByKeyHeads(TransactionKeyHeads keyHeads, PageReader reader, TreeState state, in SearchKey key)
    {
        var heads = keyHeads.DataFile!;
        var page = state.Root;
        byte* filePage;
        for (var level = state.Depth - 1; level > 0; level--)
        {
            filePage = reader.DataFilePage(page);
            page = filePage != null ? FindChild(heads, page, filePage, key, reader, keyHeads) : FindChild(reader, page, key);
        }

        filePage = reader.DataFilePage(page);
        return filePage != null ? FindRecord(heads, page, filePage, key, reader, keyHeads) : FindRecord(reader, page, key);
    }

    private static PageNumber FindChild(
        DataFileKeyHeads heads, PageNumber page, byte* filePage, in SearchKey key, PageReader reader, TransactionKeyHeads keyHeads)
    {
        if (heads.TryChild(page, filePage, key, out var child))
            return child;
        var branch = TreePages.ReadBranch(reader, page);
        keyHeads.AddBranch(page, branch);
        return BranchPage.Child(branch, BranchPage.Search(branch, key));
    }

    private static byte* FindRecord(
        DataFileKeyHeads heads, PageNumber page, byte* filePage, in SearchKey key, PageReader reader, TransactionKeyHeads keyHeads)
    {
        // While the heads are being loaded, the processor translates the page's address.
        CacheLines.Prefetch(filePage);
        if (heads.TryPlace(page, filePage, key, out var place))
            return place.Resolve(filePage, key);
        var leaf = TreePages.ReadLeaf(reader, page);
        keyHeads.AddLeaf(page, leaf);
        var index = LeafPage.Search(leaf, key);
        return index < 0 ? null : SlottedPage.Record(leaf, index);
    }

    private static PageNumber FindChild(PageReader reader, PageNumber page, in SearchKey key)
    {
        var branch = TreePages.ReadBranch(reader, page);
        return BranchPage.Child(branch, BranchPage.Search(branch, key));
    }

    private static byte* FindRecord(PageReader reader, PageNumber page, in SearchKey key)
    {
        var leaf = TreePages.ReadLeaf(reader, page);
        var index = LeafPage.Search(leaf, key);
        return index < 0 ? null : SlottedPage.Record(leaf, index);
    }
}
