using Voron.Paging;
using Voron.Primitives;
using Voron.Trees.Pages;

namespace Voron.Trees;

/// <summary>Samples entries across a whole tree at even distances. The same tree always yields the same samples.</summary>
internal static unsafe class TreeSampler
{
    /// <summary>Copies values of a tree.</summary>
    /// <param name="reader">The pages.</param>
    /// <param name="state">The tree.</param>
    /// <param name="count">The number of places to examine.</param>
    /// <param name="least">The length in bytes of the shortest value to take.</param>
    /// <param name="most">The length in bytes of the longest value to take.</param>
    /// <param name="stop">Cancels the sampling.</param>
    /// <exception cref="CorruptionException">A visited page is damaged.</exception>
    public static List<byte[]> Take(PageReader reader, TreeState state, int count, int least, int most, CancellationToken stop)
    {
        var samples = new List<byte[]>();
        if (state.Root.IsNone)
            return samples;
        state.CheckDepth(reader);
        var before = (Page: PageNumber.None, Index: -1);
        for (var i = 0; i < count; i++)
        {
            stop.ThrowIfCancellationRequested();
            var place = Descend(reader, state, (i + 0.5) / count);
            if (place == before)
                continue;
            before = place;
            var record = SlottedPage.Record(TreePages.ReadLeaf(reader, place.Page), place.Index);
            var length = LeafValue.Length(record);
            if (length < least || length > most)
                continue;
            var sample = new byte[length];
            LeafValue.CopyPart(reader, record, state.TreeId, 0, sample);
            samples.Add(sample);
        }

        return samples;
    }

    // Finds the place with the given part of all entries before it, assuming that all pages have the same number of entries.
    private static (PageNumber Page, int Index) Descend(PageReader reader, TreeState state, double part)
    {
        var page = state.Root;
        for (var level = state.Depth - 1; level > 0; level--)
        {
            var branch = TreePages.ReadBranch(reader, page);
            page = BranchPage.Child(branch, Divide(SlottedPage.Count(branch), ref part));
        }

        return (page, Divide(SlottedPage.Count(TreePages.ReadLeaf(reader, page)), ref part));
    }

    private static int Divide(int count, ref double part)
    {
        var index = Math.Min(count - 1, (int)(part * count));
        part = part * count - index;
        return index;
    }
}
