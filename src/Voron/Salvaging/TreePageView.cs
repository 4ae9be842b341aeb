using Voron.Format;
using Voron.Trees.Arrays;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <summary>A sound page of a tree of any kind, as far as all kinds have it: keys as bytes in their order, and children.</summary>
internal static unsafe class TreePageView
{
    /// <summary>True for the kinds of pages that trees have, but for those of values.</summary>
    public static bool IsOfTree(PageKind kind) => kind is PageKind.Leaf or PageKind.Branch or PageKind.Array;

    public static bool IsLeaf(byte* page) => ((PageHeader*)page)->Kind switch
    {
        PageKind.Leaf => true,
        PageKind.Array => !ArrayPage.IsBranch(page),
        _ => false,
    };

    /// <summary>Returns what a leaf has. A tree has sets of ids under all of its keys, or under none.</summary>
    public static TreeForm Form(byte* leaf)
    {
        if (((PageHeader*)leaf)->Kind == PageKind.Array)
            return new TreeForm(TreeKind.Array, ArrayPage.ValueSize(leaf));
        var first = Count(leaf) > 0 ? SlottedPage.Record(leaf, 0) : null;
        var hasSets = first != null && LeafPage.Kind(first) == ValueKind.Extended && LeafPage.Packed(first) == null;
        return new TreeForm(hasSets ? TreeKind.IdSets : TreeKind.Plain);
    }

    public static int Count(byte* page) => ((PageHeader*)page)->EntryCount;

    /// <summary>
    /// Returns the key of an entry: in a branch, of any but the first. Those of fixed-size trees are as <see cref="ArrayKey"/> has them.
    /// </summary>
    public static ReadOnlySpan<byte> Key(byte* page, int index, int pageSize) => ((PageHeader*)page)->Kind switch
    {
        PageKind.Array => ArrayKey.ToBytes(ArrayPage.Key(page, new ArrayLayout(pageSize, ArrayPage.ValueSize(page)), index)),
        PageKind.Leaf => LeafPage.Key(SlottedPage.Record(page, index)),
        _ => BranchPage.Key(SlottedPage.Record(page, index)),
    };

    public static long Child(byte* branch, int index, int pageSize) => ((PageHeader*)branch)->Kind == PageKind.Array
        ? ArrayPage.Child(branch, ArrayLayout.OfBranches(pageSize), index).Value
        : BranchPage.Child(branch, index).Value;
}
