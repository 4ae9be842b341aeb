using Voron.Format;
using Voron.Paging;
using Voron.Trees.Pages;

namespace Voron.Salvaging;

/// <summary>Finds the root of the catalog if no header names it.</summary>
internal static unsafe class CatalogFinder
{
    /// <summary>
    /// Returns the newest catalog page that no branch names; 0 if there is none. Pages of version 1 do not name their tree: there, the catalog is
    /// the tree whose values are all tree headers.
    /// </summary>
    public static long Find(SalvagePages pages, CancellationToken stop)
    {
        using var owned = new PageBitmap(pages.Capacity);
        owned.EnsureCommitted(pages.Capacity);
        using var census = new PageCensus(pages, owned);
        census.Take(includeStale: true, stop);
        using var buffer = new PageBuffer(pages.PageSize);
        var best = (Rank: (IsCurrent: false, IsMarked: false, Version: 0L), Page: 0L);
        foreach (var root in census.Roots())
        {
            if (!census.TryRead(root, buffer.Bytes, out var grade))
                continue;
            var rank = (grade == SalvageGrade.Current, buffer.Header->TreeMark == 1, buffer.Header->TransactionId);
            if ((rank.Item2 || (buffer.Header->TreeMark == 0 && HasHeadersOnly(pages, buffer))) && (best.Page == 0 || rank.CompareTo(best.Rank) > 0))
                best = (rank, root);
        }

        return best.Page;
    }

    private static bool HasHeadersOnly(SalvagePages pages, PageBuffer buffer)
    {
        for (var level = 0; buffer.Header->Kind == PageKind.Branch; level++)
        {
            if (level == StateStructure.MaxDepth || pages.TryRead(BranchPage.Child(buffer.Bytes, 0).Value, buffer.Bytes) != null)
                return false;
        }

        return buffer.Header->Kind == PageKind.Leaf && HasHeaders(buffer.Bytes, pages);
    }

    private static bool HasHeaders(byte* leaf, SalvagePages pages)
    {
        for (var i = 0; i < SlottedPage.Count(leaf); i++)
        {
            var record = SlottedPage.Record(leaf, i);
            if (LeafPage.Kind(record) != ValueKind.Inline || LeafPage.InlineLength(record) != TreeHeader.Size
                || LeafPage.KeyLength(record) > TreeLimits.MaxNameBytes
                || StateStructure.FindFault(*(TreeHeader*)LeafPage.InlineBytes(record), pages.Capacity, pages.PageSize) != null)
                return false;
        }

        return true;
    }
}
