using System.Diagnostics;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Snapshots;
using Voron.Testing;

namespace Voron.Flushing;

/// <summary>The unflushed pages as of a snapshot: read off the version table, in page order.</summary>
/// <remarks>
/// The flusher's slot is registered with the snapshot until the header names it, so that the versions of the items are kept. Afterwards only
/// <see cref="Touched"/> is used, which needs no registration.
/// </remarks>
internal sealed unsafe class FlushPlan(NativeHeap heap)
{
    /// <summary>The state that the pages belong to.</summary>
    public PublishedState Target { get; private set; }

    /// <summary>The number that the flush stamps the data file with; 0 when it has nothing to write.</summary>
    public long Number { get; set; }

    /// <summary>The items to write, by page number.</summary>
    public NativeList<FlushItem> Items { get; } = new(heap);

    /// <summary>The number of items written so far. A flush that found no space for one resumes there.</summary>
    public int Written { get; set; }

    /// <summary>All pages with a version up to the snapshot, including free pages and the inner pages of extents: to be detached.</summary>
    public NativeList<long> Touched { get; } = new(heap);

    /// <summary>The touched pages that are free.</summary>
    public NativeList<long> Freed { get; } = new(heap);

    public int Leaves { get; private set; }

    public int Branches { get; private set; }

    public int Overflows { get; private set; }

    public int Pages { get; private set; }

    /// <summary>
    /// The number of items that are <see cref="FlushItem.NeedsBasePage"/>; all are single pages, since extents are journaled in full.
    /// </summary>
    public int PagesNeedingBase { get; private set; }

    /// <summary>Collects everything newer than a checkpoint. The object is reused for the next flush.</summary>
    /// <param name="versions">The version table.</param>
    /// <param name="target">The state that the pages belong to.</param>
    /// <param name="checkpointId">The transaction of the checkpoint.</param>
    /// <param name="inFull">True to make items of pages that their transactions have already written to the data file, too.</param>
    public void Collect(VersionTable versions, in PublishedState target, long checkpointId, bool inFull = false)
    {
        Target = target;
        Number = 0;
        Written = 0;
        Items.Clear();
        Touched.Clear();
        Freed.Clear();
        Leaves = Branches = Overflows = Pages = PagesNeedingBase = 0;
        var pageCount = Math.Min(target.State.PageCount, versions.PageCapacity);
        for (var stretch = 0L; stretch * VersionTable.PagesPerStretch < pageCount; stretch++)
        {
            if (versions.ChainsInStretch(stretch) == 0)
                continue;
            var end = Math.Min(pageCount, (stretch + 1) * VersionTable.PagesPerStretch);
            for (var page = stretch * VersionTable.PagesPerStretch; page < end; page++)
            {
                if (versions.Find(page, target.State.TransactionId, out var version))
                    Add(page, version, checkpointId, inFull);
            }
        }
    }

    /// <summary>Adds the pages that have a version up to the snapshot to a set.</summary>
    /// <remarks>A transaction that changes an extent gives a version to its first page alone, which represents all of them.</remarks>
    public void AddChangedTo(ExtentSet pages)
    {
        foreach (var page in Touched.AsSpan())
            pages.Add(page, 1);
        foreach (var item in Items.AsSpan())
        {
            if (item.Pages > 1 && !PlantedFault.ForgetInsideOfExtents)
                pages.Add(item.Page, item.Pages);
        }
    }

    private void Add(long page, in PageVersion version, long checkpointId, bool inFull)
    {
        Touched.Add(page);
        if ((version.Flags & VersionFlags.Tombstone) != 0)
            Freed.Add(page);

        // An older version is in the data file already, and only waits to be detached.
        if (version.Frame == null || version.TransactionId <= checkpointId)
            return;

        // Written and synced before the version was published.
        if ((version.Flags & VersionFlags.InDataFile) != 0 && !inFull)
            return;
        var needsBasePage = version.SelfContainedSinceId <= checkpointId;
        Items.Add(new FlushItem(page, version, needsBasePage));
        PagesNeedingBase += needsBasePage ? 1 : 0;
        Debug.Assert(!needsBasePage || version.Pages == 1);
        Pages += version.Pages;
        var header = (PageHeader*)version.Frame;
        var isLeaf = PageStructure.IsLeaf(*header);
        Leaves += isLeaf == true ? 1 : 0;
        Branches += isLeaf == false ? 1 : 0;
        Overflows += header->Kind == PageKind.Overflow ? version.Pages : 0;
    }
}
