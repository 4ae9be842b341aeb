using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Journal;
using Voron.Paging;
using Voron.Scratch;
using Voron.Testing;

namespace Voron.Recovery;

/// <summary>The second pass over the journal: rebuilds the newest version of every page that changed since the checkpoint.</summary>
/// <remarks>
/// A page starts from its last self-contained version, from the full-page image that an unfinished flush left of it, or from the data file.
/// An image takes the place of all records up to its flush id. A base page that fails its own checksum, or a page that differs from the
/// newest flush list that names it, is a fault of that page. The fault counts only if no later record replaces the page.
/// </remarks>
internal sealed unsafe class PageReplay : IRecordVisitor
{
    private readonly Dictionary<long, ReplayedPage> _pages = [];
    private readonly Dictionary<long, DirectExtent> _directExtents = [];
    private readonly DataFile _dataFile;
    private readonly FrameAllocator _frames;
    private readonly FlushListCollector _lists;
    private readonly int _pageSize;
    private EnvironmentState _state;

    public PageReplay(DataFile dataFile, FrameAllocator frames, FlushListCollector lists, in EnvironmentState checkpoint)
    {
        _dataFile = dataFile;
        _frames = frames;
        _lists = lists;
        _pageSize = dataFile.PageSize;
        _state = checkpoint;
    }

    /// <summary>The state after the last transaction replayed.</summary>
    public EnvironmentState State => _state;

    public long PageCount => _pages.Count;

    /// <summary>
    /// The directly written values that still exist at the end of replay: the first page, and the location of the checksums.
    /// </summary>
    public IReadOnlyDictionary<long, DirectExtent> DirectExtents => _directExtents;

    public void Visit(RecordHeader* record, string path)
    {
        if (record->Kind is not (RecordKind.Transaction or RecordKind.JournalSnapshot))
            return;

        var id = record->State.TransactionId;
        if (record->Kind == RecordKind.Transaction && id <= _state.TransactionId)
            throw RecordPayload.Malformed(record, path, $"transaction {id}, which does not come after transaction {_state.TransactionId}");
        using var payload = new RecordPayload(record, path);
        var at = payload.Bytes;
        var end = payload.Bytes + payload.Length;
        for (var i = 0u; i < record->EntryCount; i++)
        {
            if (!PageEntry.TryRead(at, end - at, out var entry, out var size))
                throw payload.Malformed($"page entry {i} of {record->EntryCount} that extends past its end");
            at += size;
            if (!Apply(entry, at, id))
                throw payload.Malformed($"page entry {i} (page {entry.Page}, kind {entry.Kind}) that cannot be applied");
            at += entry.Length;
        }

        _state = record->State;
        if (record->Kind == RecordKind.Transaction)
        {
            foreach (var (page, image) in _lists.TakeImages(id))
                Replace(page, new ReplayedPage { TransactionId = id, Frame = image.Frame, Pages = 1 });
            CheckListed(id);
        }
    }

    /// <summary>Adds the result to the version table.</summary>
    /// <exception cref="CorruptionException">A page had a damaged base page, and no later record replaces the page.</exception>
    /// <exception cref="StorageAccessException">The base page of such a page cannot be read.</exception>
    public void Publish(VersionTable versions)
    {
        foreach (var (number, page) in _pages)
        {
            if (page.Fault != null && number < _state.PageCount)
                throw DataFile.Failure(page.Fault, page.Cause);
        }

        if (_lists.ImageCount > 0)
        {
            throw new CorruptionException(
                $"The journal of '{_dataFile.File.Path}' contains {_lists.ImageCount} page images of flushes whose transactions it does not contain.");
        }

        foreach (var (number, page) in _pages)
        {
            if (page.Frame == null || number >= _state.PageCount)
                continue;
            if (PageStructure.FindFault(page.Frame, page.Pages, number, _pageSize) is { } malformed)
                throw new CorruptionException($"After the replay of the journal, page {number} of '{_dataFile.File.Path}' is malformed: {malformed}.");

            // An extent is freed as a whole before its end is cut off.
            if (page.Pages > _state.PageCount - number)
            {
                throw new CorruptionException(
                    $"After the replay of the journal, page {number} of '{_dataFile.File.Path}' begins an extent of {page.Pages} pages, " +
                    $"but there are only {_state.PageCount} pages in all.");
            }
        }

        // Pages from the page count on were freed and then cut off.
        foreach (var (number, page) in _pages)
        {
            if (number < _state.PageCount)
            {
                var node = versions.Push(number, page.TransactionId, 0, page.Frame, page.Pages, page.Flags);
                versions.SetSelfContained(node, page.SelfContainedSinceId);
            }
            else if (page.Frame != null)
                _frames.ReturnExtent(page.Frame, page.Pages);
        }

        _pages.Clear();
    }

    private bool Apply(in PageEntry entry, byte* bytes, long id)
    {
        var page = entry.Page;
        if (entry.Length > int.MaxValue)
            return false;

        // Pages that the file does not have were cut off later; if not, the file is found to be too short after replay.
        var capacity = _dataFile.CapacityPages;
        if (page >= capacity)
            return true;
        var end = Math.Min(page + entry.Pages, capacity);
        var content = new ReadOnlySpan<byte>(bytes, (int)entry.Length);
        switch (entry.Kind)
        {
            case PageEntryKind.Diff:
                if (_lists.HasImageFrom(page, id))
                    return true;
                var changed = Base(page, id);
                return changed.Frame != null && changed.Pages == 1 && PageDiff.TryApply(content, changed.Frame, _pageSize);

            case PageEntryKind.Zeros:
                var fresh = Replace(page, new ReplayedPage { TransactionId = id, Frame = _frames.Rent(), Pages = 1 });
                NativeMemory.Clear(fresh.Frame, (nuint)_pageSize);
                return PageDiff.TryApply(content, fresh.Frame, _pageSize);

            case PageEntryKind.Extent:
                if (entry.Pages == 0 || entry.Pages > int.MaxValue / _pageSize)
                    return false;
                if (end - page < entry.Pages)
                    return Apply(new PageEntry { PageAndKind = PageEntry.Pack(page, PageEntryKind.Free), Pages = entry.Pages }, bytes, id);
                var pages = (int)entry.Pages;
                var frame = _frames.RentExtent(pages);
                var extent = Replace(page, new ReplayedPage { TransactionId = id, Frame = frame, Pages = pages, Flags = VersionFlags.Extent });
                for (var i = 1; i < pages; i++)
                    Replace(page + i, new ReplayedPage { TransactionId = id, Flags = VersionFlags.InsideExtent });
                NativeMemory.Clear(extent.Frame, (nuint)pages * (nuint)_pageSize);
                return PageDiff.TryApplySparse(content, extent.Frame, pages * _pageSize);

            case PageEntryKind.Free:
                for (var freed = page; freed < end; freed++)
                    Replace(freed, new ReplayedPage { TransactionId = id, Flags = VersionFlags.Tombstone });
                return true;

            case PageEntryKind.Direct:
                if (content.Length != DirectExtent.Size)
                    return false;
                for (var written = page; written < end; written++)
                    Forget(written);
                _directExtents[page] = *(DirectExtent*)bytes;
                return true;

            default:
                return false;
        }
    }

    private ReplayedPage Base(long page, long id)
    {
        if (_pages.TryGetValue(page, out var known))
        {
            known.TransactionId = id;
            return known;
        }

        var read = new ReplayedPage { TransactionId = id, Pages = 1, Frame = _frames.Rent() };
        _pages[page] = read;
        NativeMemory.Clear(read.Frame, (nuint)_pageSize);
        if (_lists.IsListedFrom(page, id))
            ReadUnverified(page, read);
        else if ((read.Fault = _dataFile.TryVerify(page, out read.Cause)) == null)
            _dataFile.File.Read(page * _pageSize, new Span<byte>(read.Frame, _pageSize));
        return read;
    }

    private void ReadUnverified(long page, ReplayedPage read)
    {
        try
        {
            _dataFile.File.Read(page * _pageSize, new Span<byte>(read.Frame, _pageSize));
        }
        catch (IO.DiskException e)
        {
            read.Fault = $"Page {page} of '{_dataFile.File.Path}' cannot be read: {e.Message}";
            read.Cause = e;
        }
    }

    private ReplayedPage Replace(long page, ReplayedPage replacement)
    {
        Forget(page);
        replacement.SelfContainedSinceId = replacement.TransactionId;
        _pages[page] = replacement;
        return replacement;
    }

    private void Forget(long page)
    {
        _directExtents.Remove(page);
        if (_pages.Remove(page, out var old) && old.Frame != null)
            _frames.ReturnExtent(old.Frame, old.Pages);
    }

    private void CheckListed(long id)
    {
        foreach (var (page, listed) in _lists.PagesOf(id))
        {
            if (PlantedFault.SkipListCheck)
                continue;
            if (!_pages.TryGetValue(page, out var replayed) || replayed.Frame == null || replayed.Pages != listed.Pages)
            {
                if (replayed != null)
                {
                    replayed.Fault ??= $"A flush wrote page {page} of '{_dataFile.File.Path}' as of transaction {id}, " +
                        "but the journal contains no matching version of the page.";
                }

                continue;
            }

            var actual = _dataFile.ComputeChecksum(page, replayed.Frame, (long)replayed.Pages * _pageSize);
            if (actual != listed.Checksum)
            {
                replayed.Fault ??= $"Page {page} of '{_dataFile.File.Path}' is damaged: as of transaction {id}, its checksum should be " +
                    $"{listed.Checksum:X16}, but is {actual:X16}.";
            }
        }
    }

    private sealed class ReplayedPage
    {
        public long TransactionId;

        /// <summary>The last record that makes the page self-contained, or 0.</summary>
        public long SelfContainedSinceId;
        public byte* Frame;
        public int Pages;
        public VersionFlags Flags;
        public string? Fault;

        /// <summary>The disk failure behind the fault, if there is one.</summary>
        public Exception? Cause;
    }
}
