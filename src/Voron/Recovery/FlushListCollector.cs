using Voron.Format;
using Voron.IO;
using Voron.Scratch;

namespace Voron.Recovery;

/// <summary>
/// The first pass over the journal: finds the pages that an unfinished flush may have left damaged, with the checksums of their correct content, or
/// the content itself if the flush left full-page images.
/// </summary>
/// <remarks>
/// A full-page image shows its page as of the flush id, even if the flush did not finish. Only the newest of several is kept, and replay begins
/// with it. In the journal, it follows the transaction whose state it shows, and often later transactions too.
/// </remarks>
internal sealed unsafe class FlushListCollector : IRecordVisitor
{
    private readonly long _baseTransactionId;
    private readonly FrameAllocator _frames;
    private readonly int _pageSize;
    private readonly BlockMemory _memory;
    private readonly Dictionary<long, ListedPage> _pages = [];
    private readonly Dictionary<long, List<long>> _pagesByFlushId = [];
    private readonly Dictionary<long, PageImage> _images = [];
    private readonly Dictionary<long, List<long>> _imagesByFlushId = [];

    private readonly long _stampedTransactionId;
    private readonly HashSet<ushort> _flushNumbers = [];

    /// <param name="stampedTransactionId">The transaction whose state the data file contains: any later flush may have stamped the file.</param>
    /// <param name="baseTransactionId">Flush lists up to this transaction belong to finished flushes and no longer matter.</param>
    /// <param name="frames">The allocator of the frames that hold images until replay takes them.</param>
    /// <param name="pageSize">The page size in bytes.</param>
    /// <param name="memory">The memory for uncompressed records; null for memory without limits.</param>
    public FlushListCollector(
        long stampedTransactionId, long baseTransactionId, FrameAllocator frames, int pageSize, BlockMemory? memory = null)
    {
        _memory = memory ?? BlockMemory.Unlimited;
        _stampedTransactionId = stampedTransactionId;
        _baseTransactionId = baseTransactionId;
        _frames = frames;
        _pageSize = pageSize;
    }

    /// <summary>The last transaction of the chain.</summary>
    public long LastTransactionId { get; private set; }

    /// <summary>
    /// The flush numbers in the records of unfinished flushes: the lowest 16 bits, or 0 for a flush of an engine that stamps nothing.
    /// </summary>
    public IReadOnlySet<ushort> FlushNumbers => _flushNumbers;

    /// <summary>The number of images that replay has not taken yet.</summary>
    public int ImageCount => _images.Count;

    public void Visit(RecordHeader* record, string path)
    {
        if (record->Kind == RecordKind.Transaction)
            LastTransactionId = record->TransactionId;
        if (record->Kind is RecordKind.FlushList or RecordKind.FlushImages && record->TransactionId > _stampedTransactionId)
            _flushNumbers.Add(record->FlushNumber);
        if (record->TransactionId <= _baseTransactionId)
            return;
        if (record->Kind == RecordKind.FlushList)
            AddListed(record, path);
        else if (record->Kind == RecordKind.FlushImages)
            AddImages(record, path);
    }

    /// <summary>Groups the results by flush id. Called after the pass.</summary>
    public void Finish()
    {
        foreach (var (page, listed) in _pages)
        {
            if (listed.FlushId <= LastTransactionId)
                Group(_pagesByFlushId, listed.FlushId, page);
        }

        foreach (var (page, image) in _images)
        {
            if (image.FlushId <= LastTransactionId)
            {
                Group(_imagesByFlushId, image.FlushId, page);
                continue;
            }

            _frames.Return(image.Frame);
            _images.Remove(page);
        }
    }

    /// <summary>
    /// Returns true if the page in the data file may be a mixture that a flush list will verify in place of the page's own checksum: the
    /// list of a flush at or after the transaction. A page flushed before the first record that changes it was flushed unchanged.
    /// </summary>
    public bool IsListedFrom(long page, long transactionId) =>
        _pages.TryGetValue(page, out var listed) && listed.FlushId >= transactionId && listed.FlushId <= LastTransactionId;

    /// <summary>Returns true if the page restarts from an image as of a flush at or after the transaction.</summary>
    public bool HasImageFrom(long page, long transactionId) =>
        _images.Count > 0 && _images.TryGetValue(page, out var image) && image.FlushId >= transactionId;

    /// <summary>
    /// Returns true if an unfinished flush has listed the page or left an image of it: in the data file the page may be damaged.
    /// </summary>
    public bool MayBeDamaged(long page) => _pages.ContainsKey(page) || _images.ContainsKey(page);

    /// <summary>Returns the pages whose newest list belongs to that flush, with the list's requirements for them.</summary>
    public IEnumerable<(long Page, ListedPage Listed)> PagesOf(long flushId) =>
        _pagesByFlushId.TryGetValue(flushId, out var pages) ? pages.Select(page => (page, _pages[page])) : [];

    /// <summary>Returns the images as of a flush; their frames belong to the caller from then on.</summary>
    public IEnumerable<(long Page, PageImage Image)> TakeImages(long flushId)
    {
        if (!_imagesByFlushId.Remove(flushId, out var pages))
            yield break;
        foreach (var page in pages)
        {
            _images.Remove(page, out var image);
            yield return (page, image);
        }
    }

    /// <summary>Discards the findings of the pass, so that it can be repeated with fewer records.</summary>
    public void Discard()
    {
        foreach (var image in _images.Values)
            _frames.Return(image.Frame);
        _images.Clear();
        _pages.Clear();
        _flushNumbers.Clear();
        LastTransactionId = 0;
    }

    private void AddListed(RecordHeader* record, string path)
    {
        using var payload = new RecordPayload(record, path, _memory);
        if (record->EntryCount > int.MaxValue || payload.Length != (long)record->EntryCount * FlushListEntry.Size)
            throw payload.Malformed("a flush list whose length does not match its number of entries");
        var entries = new ReadOnlySpan<FlushListEntry>(payload.Bytes, (int)record->EntryCount);

        var flushId = record->TransactionId;
        foreach (ref readonly var entry in entries)
        {
            if (entry.Page < 0)
                throw payload.Malformed($"a flush list with page {entry.Page}");
            if (!_pages.TryGetValue(entry.Page, out var known) || known.FlushId <= flushId)
                _pages[entry.Page] = new ListedPage(flushId, entry.Checksum, entry.Pages);
        }
    }

    private void AddImages(RecordHeader* record, string path)
    {
        using var payload = new RecordPayload(record, path, _memory);
        if (payload.Length > int.MaxValue)
            throw payload.Malformed("more than 2 GiB of images");
        var reader = new FlushImageReader(
            new ReadOnlySpan<byte>(payload.Bytes, (int)payload.Length), record->State.PageCount, _pageSize);
        var flushId = record->TransactionId;
        for (var i = 0u; i < record->EntryCount; i++)
        {
            var frame = _frames.Rent();
            if (!reader.TryRead(frame, out var page))
                throw payload.Malformed($"no valid page image as entry {i} of {record->EntryCount}");
            if (_images.TryGetValue(page, out var known))
                _frames.Return(known.FlushId > flushId ? frame : known.Frame);
            if (known.FlushId <= flushId)
                _images[page] = new PageImage(flushId, frame);
        }

        if (!reader.IsAtEnd)
            throw payload.Malformed($"extra bytes after its {record->EntryCount} images");
    }

    private static void Group(Dictionary<long, List<long>> groups, long flushId, long page)
    {
        if (!groups.TryGetValue(flushId, out var pages))
            groups[flushId] = pages = [];
        pages.Add(page);
    }
}

/// <summary>A flush list's entry for a page.</summary>
internal readonly record struct ListedPage(long FlushId, ulong Checksum, uint Pages);

/// <summary>A page as of a flush.</summary>
internal readonly unsafe struct PageImage
{
    public readonly long FlushId;
    public readonly byte* Frame;

    public PageImage(long flushId, byte* frame)
    {
        FlushId = flushId;
        Frame = frame;
    }
}
