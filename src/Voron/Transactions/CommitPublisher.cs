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

    public void OnRecordDurable(RecordBuffer record)
    {
        ref readonly var header = ref *record.Header;
        if (header.Kind == RecordKind.Transaction)
        {
            if (!record.IsPublished)
            {
                Publish(record);
                _observers.Durations.End(TimedWork.Commit, record.BeganTimestamp);
            }

            Volatile.Write(ref _counters.DurableTransactionId, header.TransactionId);
            _madeDurable.Raise();
            _counters.CommittedTransactions++;
            _counters.PagesChanged += header.EntryCount;
            _counters.JournalTransactionBytes += record.Length;
            if (_observers.WantsCommits)
                _observers.Post(new CommitReport(header.TransactionId, (int)header.EntryCount, record.Length));
        }

        FlushServices?.OnRecordDurable(record.Length);
    }

    // Otherwise the transaction before this one is still being written, and its leader publishes both, in order.
    public bool IsNext(RecordBuffer record) => _ring.PublishedId == record.Header->TransactionId - 1;

    public void Publish(RecordBuffer record) => _ring.Publish(record.Header->State, record.End, record.Attached);

    public void OnRecordWritten() => _observers.CallElsewhere();
}
