using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees.FixedSize;

/// <summary>Reads the pages of a fixed-size tree, and checks each against the claim of the link to it.</summary>
internal static unsafe class FixedSizePages
{
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* ReadBranch(PageReader reader, PageNumber page)
    {
        var bytes = reader.Read(page);
        if (((PageHeader*)bytes)->Kind != PageKind.Array || !ArrayPage.IsBranch(bytes))
            TreeErrors.ThrowArray(reader, page, bytes, isBranch: true, ArrayLayout.ChildSize);
        return bytes;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static byte* ReadLeaf(PageReader reader, PageNumber page, in ArrayLayout layout)
    {
        var bytes = reader.Read(page);
        CheckLeaf(reader, page, bytes, layout);
        return bytes;
    }

    /// <exception cref="CorruptionException">The page is not a leaf with that layout.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public static void CheckLeaf(PageReader reader, PageNumber page, byte* bytes, in ArrayLayout layout)
    {
        if (((PageHeader*)bytes)->Kind != PageKind.Array || ArrayPage.IsBranch(bytes) || ArrayPage.ValueSize(bytes) != layout.ValueSize)
            TreeErrors.ThrowArray(reader, page, bytes, isBranch: false, layout.ValueSize);
    }

    public static byte* Read(PageReader reader, PageNumber page, in ArrayShape shape, bool isLeaf) =>
        isLeaf ? ReadLeaf(reader, page, shape.Leaf) : ReadBranch(reader, page);

    /// <summary>Allocates an empty page for a tree. The caller must add an entry.</summary>
    public static WritablePage Allocate(PageWriter writer, TreeState state, bool isBranch, PageNumber near)
    {
        var page = writer.Allocate(PageKind.Array, near);
        ref readonly var shape = ref state.Shape(writer.PageSize);
        ArrayPage.Initialize(page, isBranch ? shape.Branch : shape.Leaf, isBranch, writer.TreeMark(state.TreeId));
        return page;
    }
}
