using Voron.Format;
using Voron.Journal;
using Voron.Paging;
using Voron.Primitives;
using Voron.Snapshots;

namespace Voron.Transactions;

/// <summary>
/// Makes transactions visible to readers, in order: when they are durable, or earlier if they are lazy. Counts durable transactions, and reports
/// them to the observers and the flusher.
/// </summary>
internal sealed unsafe class CommitPublisher : IJournalListener
{
    private readonly StateRing _ring;
    private readonly DataFile _dataFile;
    private readonly Counters _counters;
    private readonly Observers _observers;
    private readonly DurableCommitSignal _madeDurable;

    public CommitPublisher(ReadingEngine engine, DurableCommitSignal madeDurable)
    {
        _ring = engine.Ring;
        _dataFile = engine.DataFile;
        _counters = engine.Counters;
        _observers = engine.Observers;
        _madeDurable = madeDurable;
    }

    /// <summary>Notified of the length of each durable record; set once, before the first commit.</summary>
    public IFlushServices? FlushServices { get; set; }

    public void SyncExtents() => _dataFile.Sync();

    public void OnRecordDurable(RecordBuffer entry)
    {
        ref readonly var header = ref *entry.Header;
        if (header.Kind == RecordKind.Transaction)
        {
            if (!entry.IsPublished)
            {
                Publish(entry);
                _observers.Durations.End(TimedWork.Commit, entry.BeganTimestamp);
            }

            Volatile.Write(ref _counters.DurableTransactionId, header.TransactionId);
            _madeDurable.Raise();
            _counters.CommittedTransactions++;
            _counters.PagesChanged += header.EntryCount;
            _counters.JournalTransactionBytes += entry.Length;
            if (_observers.WantsCommits)
                _observers.Post(new CommitReport(header.TransactionId, (int)header.EntryCount, entry.Length));
        }

        FlushServices?.OnRecordDurable(entry.Length);
    }

    // Otherwise the transaction before this one is still being written, and its leader publishes both, in order.
    public bool IsNext(RecordBuffer entry) => _ring.PublishedId == entry.Header->TransactionId - 1;

    public void Publish(RecordBuffer entry) => _ring.Publish(entry.Header->State, entry.End, entry.Attached);

    public void OnRecordWritten() => _observers.CallElsewhere();
}
