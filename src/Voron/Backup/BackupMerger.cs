using Voron.Format;
using Voron.Paging;

namespace Voron.Backup;

/// <summary>Makes one full backup out of a chain.</summary>
/// <remarks>
/// The newest backup is read first, and pages of newer backups are skipped in older ones, so each page is written once. Only a page that one backup
/// copied several times is written as often, in the same order, because the last copy counts. All files are read forward, with all checks.
/// </remarks>
internal sealed unsafe class BackupMerger : IPageSink, IDisposable
{
    private readonly int _pageSize;
    private readonly PageBitmap _ofNewer;
    private readonly PageBitmap _ofThis;
    private readonly List<PageBatch> _full = [];
    private readonly Stack<PageBatch> _free = [];
    private PageBatch _batch;
    private BackupContent? _newest;

    public BackupMerger(int pageSize)
    {
        _pageSize = pageSize;
        _batch = NewBatch();
        var maxPageCount = new SectionMapLayout(pageSize).MaxPageCount;
        _ofNewer = new PageBitmap(maxPageCount);
        try
        {
            _ofThis = new PageBitmap(maxPageCount);
        }
        catch
        {
            _ofNewer.Dispose();
            throw;
        }
    }

    /// <summary>The number of page copies taken.</summary>
    public long Copied { get; private set; }

    /// <summary>Removes and returns the full batches, and at the end of a backup also the last one.</summary>
    public List<PageBatch> TakeBatches(bool isEnd)
    {
        if (isEnd && _batch.Pages > 0)
        {
            _full.Add(_batch);
            _batch = NewBatch();
        }

        List<PageBatch> taken = [.. _full];
        _full.Clear();
        return taken;
    }

    /// <summary>Takes back a written batch.</summary>
    public void Return(PageBatch batch)
    {
        batch.Clear();
        _free.Push(batch);
    }

    /// <summary>Notes the end of a backup. The next one is older.</summary>
    /// <param name="content">The content of the backup just read.</param>
    /// <param name="pageCount">The largest page count of all backups.</param>
    public void NoteEnd(BackupContent content, long pageCount)
    {
        _newest ??= content;
        _ofNewer.EnsureCommitted(pageCount);
        _ofThis.EnsureCommitted(pageCount);
        for (var word = 0L; word << 6 < pageCount; word++)
        {
            if (_ofThis.Word(word) is var bits && bits != 0)
                _ofNewer.SetWord(word, bits);
        }

        _ofThis.Clear(0, pageCount);
    }

    public void Add(long first, int pages, byte* bytes, BackupPlace place)
    {
        _ofNewer.EnsureCommitted(first + pages);
        _ofThis.EnsureCommitted(first + pages);
        for (var page = first; page < first + pages; page++, bytes += _pageSize)
        {
            // The state of the newest backup decides which pages are used; it is known once that backup has been read.
            if (_ofNewer.IsSet(page) || (_newest != null && !IsUsed(page)))
                continue;
            if (_batch.Room == 0)
            {
                _full.Add(_batch);
                _batch = NewBatch();
            }

            Buffer.MemoryCopy(bytes, _batch.Next, _pageSize, _pageSize);
            _batch.Add(page, 1);
            _ofThis.Set(page);
            Copied++;
        }
    }

    public void Dispose()
    {
        _ofNewer.Dispose();
        _ofThis.Dispose();
    }

    private bool IsUsed(long page) => page < _newest!.State.PageCount && _newest.Used.IsSet(page);

    private PageBatch NewBatch() => _free.TryPop(out var batch) ? batch : new PageBatch(_pageSize, BackupFrame.MaxPageBytes);
}
