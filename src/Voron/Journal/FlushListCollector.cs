using Voron.Format;

namespace Voron.Journal;

/// <summary>The first pass over the journal: which pages an unfinished flush may have torn, and what they must be like.</summary>
internal sealed unsafe class FlushListCollector : IRecordVisitor
{
    private readonly long _baseTransactionId;
    private readonly Dictionary<long, ListedPage> _pages = [];
    private readonly Dictionary<long, List<long>> _pagesByFlushId = [];

    /// <param name="baseTransactionId">Lists of flushes up to this one are of finished flushes, and say nothing any more.</param>
    public FlushListCollector(long baseTransactionId) => _baseTransactionId = baseTransactionId;

    /// <summary>The last transaction of the chain.</summary>
    public long LastTransactionId { get; private set; }

    public void Visit(RecordHeader* record, string path)
    {
        if (record->Kind == RecordKind.Transaction)
            LastTransactionId = record->State.TransactionId;
        if (record->Kind != RecordKind.FlushList || record->State.TransactionId <= _baseTransactionId)
            return;

        using var payload = new RecordPayload(record, path);
        var entries = new ReadOnlySpan<FlushListEntry>(payload.Bytes, checked((int)record->EntryCount));
        if (payload.Length != (long)entries.Length * FlushListEntry.Size)
            throw payload.Malformed("a flush list of another length than its entries have");

        var flushId = record->State.TransactionId;
        foreach (ref readonly var entry in entries)
        {
            if (!_pages.TryGetValue(entry.Page, out var known) || known.FlushId <= flushId)
                _pages[entry.Page] = new ListedPage(flushId, entry.Checksum, entry.Pages);
        }
    }

    /// <summary>To be called after the pass: groups what was found by flush id.</summary>
    public void Finish()
    {
        foreach (var (page, listed) in _pages)
        {
            if (listed.FlushId > LastTransactionId)
                continue;
            if (!_pagesByFlushId.TryGetValue(listed.FlushId, out var pages))
                _pagesByFlushId[listed.FlushId] = pages = [];
            pages.Add(page);
        }
    }

    /// <summary>
    /// True when the page in the data file may be a mixture, and a list will verify it in place of its own checksum: one of a
    /// flush at or behind a transaction. What was flushed before the first record that changes the page was flushed as it was.
    /// </summary>
    public bool IsListedFrom(long page, long transactionId) =>
        _pages.TryGetValue(page, out var listed) && listed.FlushId >= transactionId && listed.FlushId <= LastTransactionId;

    /// <summary>The pages whose newest list is that flush's, with what they must be like.</summary>
    public IEnumerable<(long Page, ListedPage Listed)> PagesOf(long flushId) =>
        _pagesByFlushId.TryGetValue(flushId, out var pages) ? pages.Select(page => (page, _pages[page])) : [];
}

/// <summary>What a flush list says of a page.</summary>
internal readonly record struct ListedPage(long FlushId, ulong Checksum, uint Pages);
