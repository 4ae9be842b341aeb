using Voron.Format;
using Voron.Paging;

namespace Voron.Backup;

/// <summary>Checks the pages of a backup individually, as far as a page alone shows its damage.</summary>
/// <remarks>
/// <code>
///   page with a header ─────▶ sound: number, checksum and structure fit     ┐
///   page of an overflow ────▶ sound: the checksum of the whole extent fits  ├─ otherwise damaged, if the state uses it
///   page of a large value ──▶ claimed: a sound leaf names the value         ┘
/// </code>
/// Each later copy of a page is judged again. A claim is permanent: a replaced leaf may have been the only one that referred to the value, but then
/// the state no longer uses the pages, or another leaf claims them. The checksums of large values are not compared: they may be far from the
/// values, which are too large to buffer. Overflow pages that do not arrive in order cannot be checked here, and count as unverified. Memory: four
/// bits per page.
/// </remarks>
internal sealed unsafe class BackupPageChecker : IPageSink, IDisposable
{
    /// <summary>The most extents that wait for further pages. A backup in page order has one at a time.</summary>
    private const int MaxRunning = 64;

    private readonly RandomId _environmentId;
    private readonly int _pageSize;
    private readonly bool _hasHints;
    private readonly long _maxPageCount;
    private readonly PageBitmap _present;
    private readonly PageBitmap _sound;
    private readonly PageBitmap _claimed;

    // Pages of overflow extents not yet checked as a whole.
    private readonly PageBitmap _unchecked;
    private readonly List<RunningExtent> _running = [];

    public BackupPageChecker(in BackupHeader header)
    {
        _environmentId = header.EnvironmentId;
        _pageSize = (int)header.PageSize;
        _hasHints = header.EnvironmentVersion != JournalFormat.Version1;
        _maxPageCount = new SectionMapLayout(_pageSize).MaxPageCount;
        _present = new PageBitmap(_maxPageCount);
        try
        {
            _sound = new PageBitmap(_maxPageCount);
            _claimed = new PageBitmap(_maxPageCount);
            _unchecked = new PageBitmap(_maxPageCount);
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>The number of used pages that could not be checked, after <see cref="Check"/>.</summary>
    public long Unverified { get; private set; }

    public void Add(long first, int pages, byte* bytes, BackupPlace place)
    {
        EnsureCommitted(first + pages);
        _present.Set(first, pages);
        _sound.Clear(first, pages);
        _unchecked.Clear(first, pages);
        for (var page = first; page < first + pages; page++, bytes += _pageSize)
            AddPage(page, bytes);
    }

    /// <summary>Compares the pages with those that the state uses, after all of them have been added.</summary>
    /// <param name="content">The content of the backup.</param>
    /// <param name="isFull">True if the backup must contain all used pages.</param>
    /// <param name="name">The name of the backup, for messages.</param>
    /// <exception cref="BackupException">A used page is missing, or is damaged.</exception>
    public void Check(BackupContent content, bool isFull, string name)
    {
        var pageCount = content.State.PageCount;
        EnsureCommitted(pageCount);
        for (var page = content.Used.FindSet(0, pageCount); page >= 0; page = content.Used.FindSet(page + 1, pageCount))
        {
            if (!_present.IsSet(page))
            {
                if (isFull)
                    throw Missing(page, name);
                continue;
            }

            if (_sound.IsSet(page) || _claimed.IsSet(page))
                continue;

            // In an incremental backup, the leaf that refers to a value may be in an earlier backup.
            if (isFull && !_unchecked.IsSet(page))
                throw Damaged(page, name);
            Unverified++;
        }
    }

    public void Dispose()
    {
        _present.Dispose();
        _sound.Dispose();
        _claimed.Dispose();
        _unchecked.Dispose();
    }

    /// <summary>Returns the exception for a used page that is in no frame.</summary>
    public static BackupException Missing(long page, string name) => new(
        BackupFault.Damaged, $"The backup '{name}' is damaged: its state uses page {page}, but no frame contains the page. Use another backup.");

    private void AddPage(long page, byte* bytes)
    {
        for (var i = _running.Count - 1; i >= 0; i--)
        {
            if (_running[i].Next == page)
                Continue(i, page, bytes);
        }

        // Most pages of large values contain another number there, so no checksum is computed for them.
        if (((PageHeader*)bytes)->PageNumber != page)
            return;
        if (BeginsExtent(page, bytes))
            Begin(page, bytes);
        else if (IsSound(page, bytes))
            AcceptPage(page, bytes);
    }

    private bool IsSound(long page, byte* bytes)
    {
        var checksum = Checksum.Compute(
            bytes + PageHeader.UnjournaledBytes, (nuint)(_pageSize - PageHeader.UnjournaledBytes), Checksum.Seed(_environmentId, page));
        return ((PageHeader*)bytes)->Checksum == checksum && !PageHeader.HasSpareBytes(bytes, page, _hasHints)
            && PageStructure.FindFault(bytes, 1, page, _pageSize) == null;
    }

    private void AcceptPage(long page, byte* bytes)
    {
        _sound.Set(page);
        if (((PageHeader*)bytes)->Kind == PageKind.Leaf)
            ClaimValues(bytes);
    }

    // The structure of the leaf has been checked.
    private void ClaimValues(byte* leaf)
    {
        var slots = (ushort*)(leaf + PageHeader.Size);
        for (var i = 0; i < ((PageHeader*)leaf)->EntryCount; i++)
        {
            var record = (LeafRecordHeader*)(leaf + slots[i]);
            if (record->KeyLengthAndKind >> LeafRecordHeader.KindShift != (int)ValueKind.LargeExtent)
                continue;
            var key = record->KeyLengthAndKind & LeafRecordHeader.KeyLengthMask;
            var value = (LargeExtentReference*)((byte*)record + LeafRecordHeader.Size + key);
            var pages = LargeValues.PageCount(_pageSize, value->Length);
            if (pages == 0 || value->FirstPage > _maxPageCount - pages)
                continue;
            EnsureCommitted(value->FirstPage + pages);
            _claimed.Set(value->FirstPage, pages);
        }
    }

    private bool BeginsExtent(long page, byte* bytes)
    {
        var header = (PageHeader*)bytes;
        long pages = header->ExtentPages;
        return header->Kind == PageKind.Overflow && pages > 1 && header->ExtentBytes is >= 0 and <= int.MaxValue
            && pages == PageStructure.ExtentPages(_pageSize, header->ExtentBytes) && page <= _maxPageCount - pages
            && !PageHeader.HasSpareBytes(bytes, page, _hasHints);
    }

    // If the pages of an extent were copied at different times, its end may precede its beginning.
    private void Begin(long page, byte* bytes)
    {
        var extent = new RunningExtent(page, ((PageHeader*)bytes)->ExtentPages, ((PageHeader*)bytes)->Checksum);
        EnsureCommitted(page + extent.Pages);
        _unchecked.Set(page, extent.Pages);
        extent.Add(bytes, _pageSize);
        if (_running.Count >= MaxRunning)
            _running.Clear();
        _running.Add(extent);
    }

    // Value pages may look like an extent that does not exist, so an extent judges its pages only as a whole, and several may be running.
    private void Continue(int index, long page, byte* bytes)
    {
        var extent = _running[index];
        extent.Add(bytes, _pageSize);
        if (!extent.IsComplete)
        {
            _unchecked.Set(page);
            return;
        }

        _running.RemoveAt(index);
        _unchecked.Clear(extent.First, extent.Pages);
        if (extent.IsSound(_environmentId))
            _sound.Set(extent.First, extent.Pages);
    }

    private void EnsureCommitted(long pages)
    {
        _present.EnsureCommitted(pages);
        _sound.EnsureCommitted(pages);
        _claimed.EnsureCommitted(pages);
        _unchecked.EnsureCommitted(pages);
    }

    private static BackupException Damaged(long page, string name) => new(
        BackupFault.Damaged,
        $"The backup '{name}' is damaged: page {page} has a wrong checksum, number or structure, and it belongs neither to a value " +
        "of a sound leaf nor to a sound overflow extent. The page was damaged before it was copied. Use another backup.");
}
