using Voron.Format;
using Voron.Trees.Kinds;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <summary>A sound page of a tree of any kind, as far as all kinds have it: keys as bytes in their order, and children.</summary>
internal static unsafe class TreePageView
{
    /// <summary>True for the kinds of pages that trees have, but for those of values.</summary>
    public static bool IsOfTree(PageKind kind) => kind is PageKind.Leaf or PageKind.Branch or PageKind.Array;

    public static bool IsLeaf(byte* page) => FormOf(page).IsLeaf(page);

    /// <summary>Returns what a leaf has. A tree has sets of ids under all of its keys, or under none.</summary>
    public static TreeForm Form(byte* leaf)
    {
        if (((PageHeader*)leaf)->Kind == PageKind.Array)
            return new TreeForm(TreeKind.FixedSize, ArrayPage.ValueSize(leaf));
        var first = Count(leaf) > 0 ? SlottedPage.Record(leaf, 0) : null;
        var hasSets = first != null && LeafPage.Kind(first) == ValueKind.Extended && LeafPage.Packed(first) == null;
        return new TreeForm(hasSets ? TreeKind.IdSets : TreeKind.Plain);
    }

    public static int Count(byte* page) => PageForm.Count(page);

    /// <summary>
    /// Returns the key of an entry: in a branch, of any but the first. Those of fixed-size trees are as <see cref="ArrayKey"/> has them.
    /// </summary>
    public static ReadOnlySpan<byte> Key(byte* page, int index, int pageSize)
    {
        var form = FormOf(page);
        return form.Key(page, pageSize, index, form == PageForm.Array ? new byte[ArrayKey.Size] : default);
    }

    public static long Child(byte* branch, int index, int pageSize) => FormOf(branch).Child(branch, pageSize, index).Value;

    private static PageForm FormOf(byte* page) => PageForm.Of(((PageHeader*)page)->Kind);
}
