using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.ChangeTracking;
using Voron.Format;
using Voron.IO;
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
///
/// The pages are in the version table from the beginning, one node for each, so that replay needs no more memory for them than the
/// environment does afterwards. No other thread uses the table yet.
/// </remarks>
internal sealed unsafe class PageReplay : IRecordVisitor
{
    private readonly Dictionary<long, (string Fault, Exception? Cause)> _faults = [];
    private readonly Dictionary<long, DirectExtent> _directExtents = [];
    private readonly List<DirectWrite> _directWrites = [];
    private readonly bool _notesDirectWrites;
    private readonly DirectPageSums _directPages;
    private readonly DataFile _dataFile;
    private readonly FrameAllocator _frames;
    private readonly VersionTable _versions;
    private readonly BlockMemory _records;
    private readonly FlushListCollector _lists;
    private readonly int _pageSize;
    private readonly long _capacity;
    private EnvironmentState _state;

    /// <param name="target">The parts to fill; the version table is empty, and has capacity for all pages of the data file.</param>
    /// <param name="lists">The result of the first pass.</param>
    /// <param name="checkpoint">The environment's header.</param>
    public PageReplay(in RecoveryTarget target, FlushListCollector lists, in CheckpointHeader checkpoint)
    {
        (_dataFile, _frames, _versions, _records) = (target.DataFile, target.Frames, target.Versions, target.Records);
        _lists = lists;
        _directPages = new DirectPageSums(_dataFile);
        _pageSize = _dataFile.PageSize;
        _capacity = _dataFile.CapacityPages;
        _state = checkpoint.State;
        _notesDirectWrites = checkpoint.ChangeLogEntry != 0 && !PlantedFault.ForgetReplayedWrites;
        Debug.Assert(
            _versions.ChainCount == 0 && _versions.PageCapacity >= _capacity, "The table must have capacity for all pages, and no versions.");
    }

    /// <summary>Receives the pages that cannot be rebuilt, each with the reason, for a salvage; null to throw.</summary>
    public IDictionary<long, string>? Lost { get; init; }

    /// <summary>
    /// After a hole in the journal: the pages that later records have written completely, so that further changes can be applied to them. Changes
    /// of other pages are skipped. Null while there is no hole.
    /// </summary>
    public ISet<long>? WholeSinceHole { get; set; }

    /// <summary>
    /// True if the data file may contain pages of transactions that the journal lacks. A page with a newer transaction id is kept: older diffs
    /// would turn it into a mixture of two states with a valid checksum. The checksum does not cover the id, so it counts only in a salvage whose
    /// data file does not match its header.
    /// </summary>
    public bool KeepsNewerPages { get; init; }

    /// <summary>The state after the last transaction replayed.</summary>
    public EnvironmentState State => _state;

    /// <summary>The number of pages replayed.</summary>
    public long PageCount => _versions.ChainCount;

    /// <summary>
    /// The directly written values that still exist at the end of replay: the first page, and the location of the checksums.
    /// </summary>
    public IReadOnlyDictionary<long, DirectExtent> DirectExtents => _directExtents;

    /// <summary>All pages that records list as written directly, if the environment has a change log.</summary>
    public IReadOnlyList<DirectWrite> DirectWrites => _directWrites;

    public void Visit(RecordHeader* record, string path)
    {
        if (record->Kind is not (RecordKind.Transaction or RecordKind.JournalSnapshot))
            return;

        var id = record->TransactionId;
        if (record->Kind == RecordKind.Transaction && id <= _state.TransactionId)
            throw RecordPayload.Malformed(record, path, $"transaction {id}, which does not come after transaction {_state.TransactionId}");
        using var payload = new RecordPayload(record, path, _records);
        for (var entries = new PageEntries(payload, record->EntryCount); entries.MoveNext();)
        {
            var entry = entries.Current;
            if (Apply(entry, entries.Content, id))
                continue;
            if (!TryLose(entry.Page, $"Record {record->Sequence} of '{path}' cannot be applied to page {entry.Page}."))
                throw payload.Malformed($"page entry {entries.Index} (page {entry.Page}, kind {entry.Kind}) that cannot be applied");
        }

        _state = record->State;
        if (record->Kind == RecordKind.Transaction)
        {
            foreach (var (page, image) in _lists.TakeImages(id))
                ReplaceByImage(page, image.Frame, id);
            CheckListed(id);
        }
    }

    /// <summary>Checks the result, and removes the pages that were cut off at the end.</summary>
    /// <exception cref="CorruptionException">A page had a damaged base page, and no later record replaces the page.</exception>
    /// <exception cref="StorageAccessException">The base page of such a page cannot be read.</exception>
    public void Finish()
    {
        foreach (var (number, (fault, cause)) in _faults)
        {
            if (number < _state.PageCount && !TryLose(number, fault))
                throw PageErrors.Failure(fault, cause);
        }

        if (Lost != null)
            _directPages.LoseFaulty(_state.PageCount, Lost);
        else if (_directPages.FindFault(_state.PageCount, out var reason) is { } lost)
            throw PageErrors.Failure(lost, reason);
        if (_lists.ImageCount > 0 && Lost == null)
        {
            throw new CorruptionException(
                $"The journal of '{_dataFile.File.Path}' contains {_lists.ImageCount} page images of flushes whose transactions it does not contain.");
        }

        for (var stretch = 0L; stretch * VersionTable.PagesPerStretch < _capacity; stretch++)
        {
            if (_versions.ChainsInStretch(stretch) == 0)
                continue;
            var end = Math.Min(_capacity, (stretch + 1) * VersionTable.PagesPerStretch);
            for (var page = stretch * VersionTable.PagesPerStretch; page < end; page++)
                Finish(page);
        }
    }

    // Pages from the page count on were freed and then cut off.
    private void Finish(long number)
    {
        if (number >= _state.PageCount)
        {
            Forget(number);
            return;
        }

        var page = _versions.Newest(number);
        if (page == null || page->Frame == null)
            return;
        var malformed = PageStructure.FindFault(page->Frame, page->Pages, number, _pageSize) is { } fault ? $"is malformed: {fault}." : null;

        // An extent is freed as a whole before its end is cut off.
        if (page->Pages > _state.PageCount - number)
            malformed ??= $"begins an extent of {page->Pages} pages, but there are only {_state.PageCount} pages in all.";
        if (malformed == null)
            return;
        malformed = $"After the replay of the journal, page {number} of '{_dataFile.File.Path}' {malformed}";
        if (!TryLose(number, malformed))
            throw new CorruptionException(malformed);
    }

    private bool TryLose(long page, string reason)
    {
        Lost?.TryAdd(page, reason);
        return Lost != null;
    }

    private bool Apply(in PageEntry entry, byte* bytes, long id)
    {
        var page = entry.Page;
        if (entry.Length > int.MaxValue)
            return false;

        // Pages that the file does not have were cut off later; if not, the file is found to be too short after replay.
        if (page >= _capacity)
            return true;
        var end = Math.Min(page + entry.Pages, _capacity);
        var content = new ReadOnlySpan<byte>(bytes, (int)entry.Length);
        switch (entry.Kind)
        {
            case PageEntryKind.Diff:
                if (_lists.HasImageFrom(page, id) || WholeSinceHole?.Contains(page) == false)
                    return true;
                var changed = Base(page, id);
                if (changed->TransactionId > id)
                    return true;
                return changed->Frame != null && changed->Pages == 1 && PageDiff.TryApply(content, changed->Frame, _pageSize);

            case PageEntryKind.Zeros:
                var fresh = Replace(page, id, _frames.Rent(), 1);
                NativeMemory.Clear(fresh->Frame, (nuint)_pageSize);
                return PageDiff.TryApply(content, fresh->Frame, _pageSize);

            case PageEntryKind.Extent:
                if (entry.Pages == 0 || entry.Pages > int.MaxValue / _pageSize)
                    return false;
                if (end - page < entry.Pages)
                    return Apply(new PageEntry { PageAndKind = PageEntry.Pack(page, PageEntryKind.Free), Pages = entry.Pages }, bytes, id);
                var pages = (int)entry.Pages;
                var extent = Replace(page, id, _frames.RentExtent(pages), pages, VersionFlags.Extent);
                for (var i = 1; i < pages; i++)
                    Replace(page + i, id, null, 0, VersionFlags.InsideExtent);
                NativeMemory.Clear(extent->Frame, (nuint)pages * (nuint)_pageSize);
                return PageDiff.TryApplySparse(content, extent->Frame, pages * _pageSize);

            case PageEntryKind.Free:
                for (var freed = page; freed < end; freed++)
                    Replace(freed, id, null, 0, VersionFlags.Tombstone);
                return true;

            case PageEntryKind.Direct when DirectPages.Is(bytes, content.Length):
                if (content.Length != DirectPages.Length(entry.Pages))
                    return false;
                NoteDirectWrite(id, page, end);
                for (var written = page; written < end; written++)
                {
                    Forget(written);
                    WholeSinceHole?.Add(written);
                    _directPages.Add(written, DirectPages.Checksums(bytes)[written - page]);
                }

                return true;

            case PageEntryKind.Direct:
                if (content.Length != DirectExtent.Size)
                    return false;
                NoteDirectWrite(id, page, end);
                ForgetWritten(page, end, mayChange: ((DirectExtent*)bytes)->Length == 0);
                _directExtents[page] = *(DirectExtent*)bytes;
                return true;

            default:
                return false;
        }
    }

    // The pages of a bulk load may be changed by later records, but not those of a value.
    private void ForgetWritten(long page, long end, bool mayChange)
    {
        for (; page < end; page++)
        {
            Forget(page);
            if (mayChange)
                WholeSinceHole?.Add(page);
        }
    }

    private void NoteDirectWrite(long id, long page, long end)
    {
        if (_notesDirectWrites && end > page)
            _directWrites.Add(new DirectWrite(id, page, end - page));
    }

    private VersionNode* Base(long page, long id)
    {
        var known = _versions.Newest(page);
        if (known != null)
        {
            known->TransactionId = Math.Max(known->TransactionId, id);
            return known;
        }

        var read = _versions.Push(page, id, 0, _frames.Rent(), 1, VersionFlags.None);
        NativeMemory.Clear(read->Frame, (nuint)_pageSize);
        var isDirect = _directPages.TryTake(page, out var expected);
        if (_lists.IsListedFrom(page, id))
            ReadUnverified(page, read->Frame);
        else if ((isDirect ? _directPages.FindFault(page, expected, out var cause) : _dataFile.TryVerify(page, out cause)) is { } fault)
            _faults[page] = (fault, cause);
        else
            ReadVerified(page, read);
        return read;
    }

    private void ReadVerified(long page, VersionNode* target)
    {
        _dataFile.File.Read(page * _pageSize, new Span<byte>(target->Frame, _pageSize));
        var version = ((PageHeader*)target->Frame)->TransactionId;
        if (KeepsNewerPages && version > _lists.LastTransactionId)
            target->TransactionId = version;
    }

    private void ReadUnverified(long page, byte* frame)
    {
        try
        {
            _dataFile.File.Read(page * _pageSize, new Span<byte>(frame, _pageSize));
        }
        catch (DiskException e)
        {
            _faults[page] = ($"Page {page} of '{_dataFile.File.Path}' cannot be read: {e.Message}", e);
        }
    }

    // An image may be of a page that was cut off later.
    private void ReplaceByImage(long page, byte* frame, long id)
    {
        if (page < _capacity)
            Replace(page, id, frame, 1);
        else
            _frames.Return(frame);
    }

    private VersionNode* Replace(long page, long id, byte* frame, int pages, VersionFlags flags = VersionFlags.None)
    {
        Forget(page);
        WholeSinceHole?.Add(page);
        var node = _versions.Push(page, id, 0, frame, pages, flags);
        _versions.SetSelfContained(node, id);
        return node;
    }

    private void Forget(long page)
    {
        _directExtents.Remove(page);
        _directPages.Remove(page);
        Lost?.Remove(page);
        var old = _versions.Newest(page);
        if (old == null)
            return;
        _faults.Remove(page);
        var (frame, pages) = ((nint)old->Frame, old->Pages);
        _versions.Pop(old);
        if (frame != 0)
            _frames.ReturnExtent((byte*)frame, pages);
    }

    private void CheckListed(long id)
    {
        foreach (var (page, listed) in _lists.PagesOf(id))
        {
            var replayed = page < _capacity ? _versions.Newest(page) : null;
            if (replayed == null || PlantedFault.SkipListCheck)
                continue;
            if (replayed->Frame == null || replayed->Pages != listed.Pages)
            {
                AddFault(
                    page,
                    $"A flush wrote page {page} of '{_dataFile.File.Path}' as of transaction {id}, " +
                    "but the journal contains no matching version of the page.");
                continue;
            }

            var actual = _dataFile.ComputeChecksum(page, replayed->Frame, (long)replayed->Pages * _pageSize);
            if (actual != listed.Checksum)
            {
                AddFault(
                    page,
                    $"Page {page} of '{_dataFile.File.Path}' is damaged: as of transaction {id}, its checksum should be " +
                    $"{listed.Checksum:X16}, but is {actual:X16}.");
            }
        }
    }

    // The first fault of a page is the cause of the others.
    private void AddFault(long page, string fault) => _faults.TryAdd(page, (fault, null));
}
