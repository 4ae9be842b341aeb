using Voron.Format;
using Voron.FreeSpace;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Transactions;
using Voron.Trees.IdSets.Pages;
using Voron.Trees.Kinds;

namespace Voron.Maintenance;

/// <summary>A page of a tree, as a sample found it.</summary>
/// <param name="IsLeaf">True for a leaf or an id page, false for a branch.</param>
/// <param name="TreeMark">See <see cref="PageHeader.TreeMark"/>.</param>
/// <param name="UsedFraction">The used fraction of the space for records, from 0 to 1.</param>
internal readonly record struct SampledPage(bool IsLeaf, uint TreeMark, double UsedFraction);

/// <summary>Reads some pages of a snapshot, spread evenly over the data file, to see how full the pages of trees are.</summary>
internal static unsafe class PageSample
{
    /// <summary>Returns the tree pages among the sampled pages.</summary>
    /// <param name="engine">The engine.</param>
    /// <param name="snapshot">The snapshot.</param>
    /// <param name="mostPages">The most pages to read, including free ones; all pages if there are fewer.</param>
    /// <param name="stop">Ends the reading.</param>
    /// <exception cref="CorruptionException">The section map is damaged.</exception>
    public static List<SampledPage> Take(ReadingEngine engine, SnapshotPages snapshot, int mostPages, CancellationToken stop)
    {
        var map = new SectionMap(engine.Layout, new SnapshotSpace(snapshot));
        var found = new List<SampledPage>();
        var pages = Math.Min(mostPages, snapshot.PageCount);
        for (var i = 0L; i < pages; i++)
        {
            stop.ThrowIfCancellationRequested();
            var page = i * snapshot.PageCount / pages;
            if (map.IsUsed(page) && TryRead(snapshot, page, engine.PageSize) is { } sampled)
                found.Add(sampled);
        }

        return found;
    }

    // The pages within an extent have no header, so they fail as damaged ones do. A verification tells them apart; here, neither counts as a
    // tree page.
    private static SampledPage? TryRead(SnapshotPages snapshot, long number, int pageSize)
    {
        byte* page;
        try
        {
            page = snapshot.Read(new PageNumber(number));
        }
        catch (CorruptionException)
        {
            return null;
        }

        var header = (PageHeader*)page;
        if (header->PageNumber != number)
            return null;
        if (header->Kind == PageKind.Ids)
            return new SampledPage(true, header->TreeMark, IdPage.UsedBytes(page, pageSize) / (double)IdPage.Capacity(pageSize));
        return PageForm.Find(header->Kind) is { } form
            ? new SampledPage(form.IsLeaf(page), header->TreeMark, form.UsedFraction(page, pageSize))
            : null;
    }
}
