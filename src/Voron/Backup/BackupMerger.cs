using Voron.Format;
using Voron.Paging;

namespace Voron.Backup;

/// <summary>Makes one full backup out of a chain.</summary>
/// <remarks>
/// The newest backup is read first. A page that a newer one has is left out of the older ones, so each page is written once; only a page that a
/// backup
/// copied several times is written as often, and in that order, because the last copy counts. All files are read forward, with all their checks.
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

    /// <summary>The number of copies of pages that have been taken.</summary>
    public long Copied { get; private set; }

    /// <summary>Takes out the batches that are full, and the last one at the end of a backup.</summary>
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

    /// <summary>Takes back a batch that has been written.</summary>
    public void Return(PageBatch batch)
    {
        batch.Clear();
        _free.Push(batch);
    }

    /// <summary>Notes that the next backup is older.</summary>
    /// <param name="content">The content of the one that was read.</param>
    /// <param name="pageCount">The number of pages that any of the backups may have.</param>
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
            // The state of the newest backup decides which pages are used; it is known when that has been read.
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
