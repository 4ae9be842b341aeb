using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.FixedSize;

/// <summary>Finds entries of a fixed-size tree.</summary>
internal static unsafe class FixedSizeReader
{
    /// <summary>The largest number of keys searched side by side.</summary>
    public const int Width = 32;

    /// <summary>Returns the address of a key's value, valid as described at <see cref="PageReader.Read"/>; null if the key does not exist.</summary>
    /// <exception cref="CorruptionException">A page on the path is damaged.</exception>
    public static byte* Find(TreeState state, PageReader reader, long key)
    {
        if (state.Root.IsNone)
            return null;

        state.CheckDepth(reader);
        ref readonly var shape = ref state.Shape(reader.PageSize);
        var page = state.Root;
        for (var level = state.Depth - 1; level > 0; level--)
        {
            var branch = FixedSizePages.ReadBranch(reader, page);
            page = ArrayPage.Child(branch, shape.Branch, ArrayPage.FindChild(branch, shape.Branch, key));
        }

        return FindInLeaf(FixedSizePages.ReadLeaf(reader, page, shape.Leaf), shape, key);
    }

    /// <summary>
    /// Finds the entry with a key or, if there is none, the one after it (step 1) or before it (step -1). Returns the address of its value, or null.
    /// </summary>
    [SkipLocalsInit]
    public static byte* FindNear(TreeState state, PageReader reader, long key, int step, out long found)
    {
        found = 0;
        if (state.Root.IsNone)
            return null;

        Unsafe.SkipInit(out TreePath path);
        ref readonly var layout = ref state.Shape(reader.PageSize).Leaf;
        var leaf = FixedSizePath.Descend(state, reader, key, ref path);
        var index = ArrayPage.Search(leaf, layout, key);
        if (index < 0)
            index = step > 0 ? ~index : ~index - 1;
        if ((uint)index >= (uint)ArrayPage.Count(leaf))
        {
            leaf = FixedSizePath.Step(state, reader, step, ref path);
            if (leaf == null)
                return null;
            index = step > 0 ? 0 : ArrayPage.Count(leaf) - 1;
        }

        found = ArrayPage.Key(leaf, layout, index);
        return ArrayPage.Value(leaf, layout, index);
    }

    /// <summary>Finds the values of several keys, whose searches wait for memory together. The address is null for a missing key.</summary>
    /// <param name="state">The tree.</param>
    /// <param name="reader">The pages of the tree.</param>
    /// <param name="keys">The keys, at most <see cref="Width"/>.</param>
    /// <param name="values">Receives the addresses.</param>
    [SkipLocalsInit]
    public static void FindMany(TreeState state, PageReader reader, ReadOnlySpan<long> keys, byte** values)
    {
        Debug.Assert(keys.Length <= Width);
        if (state.Root.IsNone)
        {
            new Span<nint>(values, keys.Length).Clear();
            return;
        }

        state.CheckDepth(reader);
        ref readonly var shape = ref state.Shape(reader.PageSize);
        var pages = stackalloc PageNumber[Width];
        for (var i = 0; i < keys.Length; i++)
            pages[i] = state.Root;

        for (var level = state.Depth - 1; level > 0; level--)
        {
            ref readonly var below = ref level > 1 ? ref shape.Branch : ref shape.Leaf;
            for (var i = 0; i < keys.Length; i++)
            {
                var branch = FixedSizePages.ReadBranch(reader, pages[i]);
                pages[i] = ArrayPage.Child(branch, shape.Branch, ArrayPage.FindChild(branch, shape.Branch, keys[i]));
                Prefetch(reader.Peek(pages[i]), below);
            }
        }

        for (var i = 0; i < keys.Length; i++)
            values[i] = FindInLeaf(FixedSizePages.ReadLeaf(reader, pages[i], shape.Leaf), shape, keys[i]);
    }

    private static byte* FindInLeaf(byte* leaf, in ArrayShape shape, long key)
    {
        var index = ArrayPage.Search(leaf, shape.Leaf, key);
        return index < 0 ? null : ArrayPage.Value(leaf, shape.Leaf, index);
    }

    // Prefetches the header, and the keys compared by the first two steps of a search in a full page.
    private static void Prefetch(byte* page, in ArrayLayout layout)
    {
        if (page == null)
            return;
        var keys = page + layout.KeysStart;
        var quarter = layout.Capacity / 4 * ArrayLayout.KeySize;
        CacheLines.Prefetch(page);
        CacheLines.Prefetch(keys + quarter);
        CacheLines.Prefetch(keys + 2 * quarter);
        CacheLines.Prefetch(keys + 3 * quarter);
    }
}
