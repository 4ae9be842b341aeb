using System.Globalization;
using System.Text;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.Paging;
using Voron.Snapshots;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees.Pages;

namespace Voron.Backup;

/// <summary>Copies the pages of an environment that changes meanwhile, from successive snapshots.</summary>
/// <remarks>
/// <code>
///   sweep: all used pages, in page order ─▶ round: the pages that have changed since they were copied ─▶ ... ─▶ nothing is pending
/// </code>
/// Invariant: a page that the current snapshot uses, and that is neither pending nor ahead of the sweep, has been copied from an earlier snapshot,
/// and nothing has changed it since. The last copy of a page counts.
/// <para>
/// While a snapshot is registered, a page without a version for it does not change in the data file. A page with a version may be written at
/// any time, after which the version may be detached. Versions are therefore looked up before the file is read: a page without one is valid in
/// the file.
/// </para>
/// <para>
/// <see cref="CopyMarks"/> records which copies are known to be right. The inside of an extent is copied together with its first page. If it is
/// copied alone, the copy is unsound, and is found at the end as an unknown page: see <see cref="OwnerSearch"/>.
/// </para>
/// <para>One thread at a time uses a copier.</para>
/// </remarks>
internal sealed unsafe partial class PageCopier : IDisposable
{
    private readonly ReadingEngine _engine;
    private readonly DataFile _file;
    private readonly int _pageSize;
    private readonly CopyMarks _marks;
    private SnapshotPages? _snapshot;
    private UsedPages? _used;
    private LongExtent _long;
    private bool _isSweep;
    private long _at;
    private long _noLongExtentBefore;

    /// <param name="engine">The environment.</param>
    /// <exception cref="OutOfMemoryException">There is not enough memory for the bits of all pages.</exception>
    public PageCopier(ReadingEngine engine)
    {
        _engine = engine;
        _file = engine.DataFile;
        _pageSize = engine.PageSize;
        _marks = new CopyMarks(_file.PageLimit);
        try
        {
            Pending = new ChangedPages(0, _file.PageLimit, engine.Heap) { Added = _marks.Forget };
        }
        catch
        {
            _marks.Dispose();
            throw;
        }
    }

    /// <summary>The pages that have changed since they were copied.</summary>
    public ChangedPages Pending { get; }

    /// <summary>The number of page copies.</summary>
    public long Copied { get; private set; }

    /// <summary>Uses a snapshot from now on. It must stay registered while the copier reads.</summary>
    /// <exception cref="InsufficientMemoryException">There is not enough memory for the bits of all pages.</exception>
    public void Use(SnapshotPages snapshot)
    {
        Pending.Grow(snapshot.PageCount);
        _marks.EnsureRoom(snapshot.PageCount);
        _snapshot = snapshot;
        _used = new UsedPages(_engine.Layout, snapshot);
    }

    /// <summary>Marks all pages as known, before those changed since another backup are collected: only they will be copied.</summary>
    public void TakeAllForKnown() => _marks.NoteSound(0, _snapshot!.PageCount);

    /// <summary>Adds the pages changed between an earlier snapshot and the current one.</summary>
    /// <returns>False if the changes are no longer known: every page must be copied again.</returns>
    public bool TryCollect(ChangedPageTracker changes, long since)
    {
        if (!PlantedFault.ForgetPending && !changes.TryCollect(_engine.Versions, since, _snapshot!.State, Pending))
            return false;
        if (_long.IsActive && Pending.Contains(_long.First))
            GiveUpLongExtent();
        return true;
    }

    /// <summary>Begins to copy all used pages, including those already copied.</summary>
    public void BeginSweep()
    {
        _long = default;
        _isSweep = true;
        _at = _noLongExtentBefore = 0;
        Pending.Remove(0, Pending.PageCount);
        _marks.Forget(0, Pending.PageCount);
    }

    /// <summary>Begins to copy the pending pages.</summary>
    public void BeginRound() => (_isSweep, _at, _noLongExtentBefore) = (false, 0, 0);

    /// <summary>Copies pages into a batch until it is full.</summary>
    /// <returns>False at the end of the sweep or the round.</returns>
    /// <exception cref="CorruptionException">The section map is damaged.</exception>
    /// <exception cref="StorageAccessException">The data file cannot be read.</exception>
    /// <exception cref="OperationCanceledException">The copy was cancelled.</exception>
    public bool Fill(PageBatch batch, CancellationToken stop)
    {
        while (batch.Room > 0)
        {
            stop.ThrowIfCancellationRequested();
            if (_long.IsActive)
            {
                ContinueLongExtent(batch);
                continue;
            }

            var page = NextPage();
            if (page < 0)
                return false;
            if (!TryCopy(page, batch))
                return true;
        }

        return true;
    }

    /// <summary>Returns the first used page that is not pending, and whose copy is not known to be right; -1 if there is none.</summary>
    /// <param name="from">The page to begin with.</param>
    public long FirstUnknown(long from = 0) => _used!.Next(from, word => _marks.KnownIn(word) | Pending.Word(word));

    /// <summary>Lists the pages that <see cref="FirstUnknown"/> finds, as "3, 17-20".</summary>
    /// <param name="most">The most page ranges to name; "..." replaces the others.</param>
    public string ListUnknown(int most)
    {
        var list = new StringBuilder();
        for (var first = FirstUnknown(); first >= 0; most--)
        {
            if (list.Length > 0)
                list.Append(", ");
            if (most == 0)
                return list.Append("...").ToString();
            var (last, next) = (first, FirstUnknown(first + 1));
            while (next == last + 1)
                (last, next) = (next, FirstUnknown(next + 1));
            list.Append(CultureInfo.InvariantCulture, $"{first}");
            if (last > first)
                list.Append(CultureInfo.InvariantCulture, $"-{last}");
            first = next;
        }

        return list.ToString();
    }

    /// <summary>Notes that pages belong to a large value, according to a leaf of the current snapshot.</summary>
    public void NoteClaimed(long first, long pages)
    {
        if (first > 0 && pages > 0 && first <= _snapshot!.PageCount - pages)
            _marks.NoteClaimed(first, pages);
    }

    /// <summary>Marks an extent as pending again if its pages were not copied together.</summary>
    /// <returns>False if they were.</returns>
    public bool TryAddUnsound(long first, long pages)
    {
        for (var page = first; page < first + pages; page++)
        {
            if (_marks.IsSound(page))
                continue;
            Pending.AddUnchanged(first, pages);
            return true;
        }

        return false;
    }

    /// <summary>Returns the number of pages that the snapshot uses.</summary>
    public long CountUsed() => _used!.Count(static _ => ulong.MaxValue);

    /// <summary>Returns the number of pending pages that the snapshot uses.</summary>
    public long CountPending() => _used!.Count(Pending.Word);

    /// <summary>Replaces the pending pages, none of which are left, with all used pages.</summary>
    /// <returns>Their number.</returns>
    public long TurnIntoUsed()
    {
        Pending.Remove(0, Pending.PageCount);
        return _used!.CopyTo(Pending);
    }

    public void Dispose()
    {
        Pending.Dispose();
        _marks.Dispose();
    }

    private long NextPage()
    {
        if (_isSweep)
            return _used!.Next(_at);
        while (Pending.Next(_at) is var page && page >= 0)
        {
            if (_used!.Contains(page))
                return page;
            Pending.Remove(page, 1);
            _at = page + 1;
        }

        return -1;
    }

    // Returns false if the batch must be empty for the next pages.
    private bool TryCopy(long page, PageBatch batch)
    {
        if (PlantedFault.CopyWithoutVersions || !_engine.Versions.Find(page, _snapshot!.Id, out var version))
            return TryCopyFromFile(page, batch);
        if ((version.Flags & VersionFlags.InsideExtent) != 0 && FirstOfExtent(page, ref version) is var first && first >= 0)
            return TryCopyFrame(first, version, batch);
        if (version.Frame != null)
            return TryCopyFrame(page, version, batch);

        // A page that is both free and in use: the section map is wrong.
        return TryCopyFromFile(page, batch);
    }

    // Finds the frame of the extent that contains a page.
    private long FirstOfExtent(long page, ref PageVersion version)
    {
        for (var first = page - 1; first > 0 && _engine.Versions.Find(first, _snapshot!.Id, out var found); first--)
        {
            if ((found.Flags & VersionFlags.InsideExtent) != 0)
                continue;
            if (found.Frame == null || first + found.Pages <= page)
                return -1;
            version = found;
            return first;
        }

        return -1;
    }

    private bool TryCopyFrame(long page, in PageVersion version, PageBatch batch)
    {
        var pages = Math.Max(1, version.Pages);
        if (pages > batch.Room)
        {
            if (batch.Pages == 0)
                _long = new LongExtent(page, pages);
            return batch.Pages == 0;
        }

        var target = batch.Next;
        var bytes = (long)pages * _pageSize;
        Buffer.MemoryCopy(version.Frame, target, bytes, bytes);
        _file.SetChecksum(page, target, bytes, version.TransactionId);
        if (page == 0)
            ((PageHeader*)target)->Stamp = 0;
        NoteSound(page, target, pages);
        Add(batch, page, pages);
        return true;
    }

    // The pages of a leaf's large values may have been copied already or not: the claim holds until they change.
    private void NoteSound(long page, byte* bytes, long pages)
    {
        _marks.NoteSound(page, pages);
        if (((PageHeader*)bytes)->Kind != PageKind.Leaf)
            return;
        for (var i = 0; i < SlottedPage.Count(bytes); i++)
        {
            var record = SlottedPage.Record(bytes, i);
            if (LeafPage.Kind(record) != ValueKind.LargeExtent)
                continue;
            ref readonly var value = ref *(LargeExtentReference*)LeafPage.InlineBytes(record);
            if (value.Length is > 0 and <= int.MaxValue)
                NoteClaimed(value.FirstPage, LargeValues.PageCount(_pageSize, value.Length));
        }
    }

    private void Add(PageBatch batch, long page, int pages)
    {
        batch.Add(page, pages);
        Pending.Remove(page, pages);
        Copied += pages;
        _at = Math.Max(_at, page + pages);
    }
}
