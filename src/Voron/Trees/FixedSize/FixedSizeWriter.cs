using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.FixedSize;

/// <summary>Changes a fixed-size tree.</summary>
/// <remarks>
/// Values may be spans of the tree's own pages. A <see cref="StorageFullException"/> from the page writer can leave the tree partially changed: the
/// transaction must be rolled back, entirely or to a savepoint.
/// </remarks>
internal static unsafe class FixedSizeWriter
{
    /// <summary>Sets the value of a key. The value must have the size of the tree's values.</summary>
    public static void Put(PageWriter writer, TreeState state, long key, ReadOnlySpan<byte> value)
    {
        Debug.Assert(value.Length == state.NestedValues, "The caller must have checked the size of the value.");
        state.PrepareForChange();
        if (state.RightmostLeaf.IsNone || !TryAppend(writer, state, key, value))
            PutByPath(writer, state, key, value);
    }

    /// <summary>Removes an entry; returns false if there is none with this key.</summary>
    [SkipLocalsInit]
    public static bool Delete(PageWriter writer, TreeState state, long key)
    {
        if (state.Root.IsNone)
            return false;

        Unsafe.SkipInit(out TreePath path);
        ref readonly var layout = ref state.Shape(writer.PageSize).Leaf;
        var index = ArrayPage.Search(FixedSizePath.Descend(state, writer, key, ref path), layout, key);
        if (index < 0)
            return false;

        state.PrepareForChange();
        var leaf = writer.Modify(path.Page(path.LeafLevel));
        ArrayPage.Remove(leaf, layout, index);
        state.EntryCount--;
        state.Changed = true;
        FixedSizeMerger.AfterRemoval(writer, state, path, leaf);
        return true;
    }

    /// <summary>Adds an entry at the end of the last leaf; returns false if the key does not belong there, or the leaf has no room.</summary>
    private static bool TryAppend(PageWriter writer, TreeState state, long key, ReadOnlySpan<byte> value)
    {
        // Not read first: the leaf recently received an entry, so it is already writable, unless a savepoint has been created since.
        ref readonly var layout = ref state.Shape(writer.PageSize).Leaf;
        var leaf = writer.Modify(state.RightmostLeaf);
        FixedSizePages.CheckLeaf(writer, state.RightmostLeaf, leaf.Bytes, layout);
        var count = ArrayPage.Count(leaf.Bytes);
        if (count == 0 || ArrayPage.IsFull(leaf.Bytes, layout) || ArrayPage.Key(leaf.Bytes, layout, count - 1) >= key)
        {
            state.RightmostLeaf = PageNumber.None;
            return false;
        }

        // The source may be an entry of the same page: existing entries do not move.
        value.CopyTo(new Span<byte>(ArrayPage.Insert(leaf, layout, count, key), layout.ValueSize));
        state.EntryCount++;
        state.Changed = true;
        return true;
    }

    [SkipLocalsInit]
    private static void PutByPath(PageWriter writer, TreeState state, long key, ReadOnlySpan<byte> value)
    {
        if (state.Root.IsNone)
            CreateRoot(writer, state);

        Unsafe.SkipInit(out TreePath path);
        ref readonly var layout = ref state.Shape(writer.PageSize).Leaf;
        var leaf = FixedSizePath.Descend(state, writer, key, ref path);
        if (!TreePages.Overlaps(value, leaf, writer.PageSize))
        {
            Store(writer, state, path, key, value);
            return;
        }

        // The page that contains the value is about to be copied or changed.
        Span<byte> copy = stackalloc byte[value.Length];
        value.CopyTo(copy);
        Store(writer, state, path, key, copy);
    }

    private static void Store(PageWriter writer, TreeState state, in TreePath path, long key, scoped ReadOnlySpan<byte> value)
    {
        ref readonly var layout = ref state.Shape(writer.PageSize).Leaf;
        var number = path.Page(path.LeafLevel);
        var leaf = writer.Modify(number);
        var index = ArrayPage.Search(leaf.Bytes, layout, key);
        if (index >= 0)
        {
            value.CopyTo(new Span<byte>(ArrayPage.ModifyValue(leaf, layout, index), layout.ValueSize));
            return;
        }

        index = ~index;
        if (path.OnRightEdge)
            state.RightmostLeaf = index == ArrayPage.Count(leaf.Bytes) ? number : PageNumber.None;
        if (ArrayPage.IsFull(leaf.Bytes, layout))
            leaf = FixedSizeSplitter.SplitLeaf(writer, state, path, leaf, key, ref index);

        value.CopyTo(new Span<byte>(ArrayPage.Insert(leaf, layout, index, key), layout.ValueSize));
        state.EntryCount++;
        state.Changed = true;
    }

    private static void CreateRoot(PageWriter writer, TreeState state)
    {
        var root = FixedSizePages.Allocate(writer, state, isBranch: false, PageNumber.None);
        state.Root = new PageNumber(root.Header->PageNumber);
        state.Depth = 1;
        state.LeafPages = 1;
        state.Changed = true;
    }
}
