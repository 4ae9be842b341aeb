using Voron.Format;
using Voron.Trees.Kinds;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <summary>A sound page of a tree of any kind, as far as all kinds have it: keys as bytes in their order, and children.</summary>
internal static unsafe class TreePageView
{
    /// <summary>True for the kinds of pages that trees have, but for those of values.</summary>
    public static bool IsOfTree(PageKind kind) => PageForm.Find(kind) != null;

    public static bool IsLeaf(byte* page) => FormOf(page).IsLeaf(page);

    /// <summary>Returns what a leaf has.</summary>
    public static TreeForm Form(byte* leaf)
    {
        var (kind, valueSize) = FormOf(leaf).KindOf(leaf);
        return new TreeForm(kind, valueSize);
    }

    public static int Count(byte* page) => PageForm.Count(page);

    /// <summary>
    /// Returns the key of an entry: in a branch, of any but the first. Those of fixed-size trees are as <see cref="ArrayKey"/> has them.
    /// </summary>
    public static ReadOnlySpan<byte> Key(byte* page, int index, int pageSize) => FormOf(page).Key(page, pageSize, index, new byte[ArrayKey.Size]);

    public static long Child(byte* branch, int index, int pageSize) => FormOf(branch).Child(branch, pageSize, index).Value;

    // In this form, a page that is none of a tree is no leaf.
    private static PageForm FormOf(byte* page) => PageForm.Find(((PageHeader*)page)->Kind) ?? PageForm.Slotted;
}
