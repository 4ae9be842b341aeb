using Voron.Paging;
using Voron.Primitives;

namespace Voron.Trees.Kinds;

/// <summary>Reads the pages that <see cref="TreeCutter"/> is about to read, so that it finds them in memory and already checked.</summary>
/// <remarks>
/// Reading a page that is not in the system's cache costs more than freeing hundreds of pages. The cutter reads its pages while it holds the writer.
/// This class reads them beforehand.
/// </remarks>
internal unsafe ref struct TreeReadAhead
{
    private readonly PageReader _pages;
    private readonly TreeState _state;
    private long _left;

    private TreeReadAhead(PageReader pages, TreeState state, int most)
    {
        _pages = pages;
        _state = state;
        _left = most;
    }

    /// <summary>Reads the branches above the first pages of a tree, and the leaves among those pages if freeing them requires reading them.</summary>
    /// <param name="pages">The pages of the tree.</param>
    /// <param name="state">The tree.</param>
    /// <param name="most">The number of pages to be freed.</param>
    /// <exception cref="CorruptionException">A visited page is damaged.</exception>
    public static void Read(PageReader pages, TreeState state, int most)
    {
        if (state.Root.IsNone)
            return;
        state.CheckDepth(pages);
        new TreeReadAhead(pages, state, most).Read(state.Root, 0);
    }

    // Each page counts, so that the walk of a damaged tree also ends.
    private void Read(PageNumber page, int level)
    {
        _left--;
        var readsLeaves = _state.HasMoreThanLeaves;
        if (level == _state.Depth - 1)
        {
            if (readsLeaves)
                TreePages.ReadLeaf(_pages, page);
            return;
        }

        var form = TreeKinds.Of(_state.Kind).Pages;
        var branch = form.ReadBranch(_pages, page);
        var children = PageForm.Count(branch);
        if (level == _state.Depth - 2 && !readsLeaves)
        {
            _left -= children;
            return;
        }

        for (var i = 0; i < children && _left > 0; i++)
            Read(form.Child(branch, _pages.PageSize, i), level + 1);
    }
}
