using Voron.Format;
using Voron.Journal;
using Voron.Paging;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>Makes durable transactions visible to readers, in order, counts them, and notifies the observers and the flusher.</summary>
internal sealed class CommitPublisher : IJournalListener
{
    private readonly StateRing _ring;
    private readonly DataFile _dataFile;
    private readonly Counters _counters;
    private readonly Observers _observers;
    private readonly CommitSignal _published;

    public CommitPublisher(StateRing ring, DataFile dataFile, Counters counters, Observers observers, CommitSignal published)
    {
        _published = published;
        _ring = ring;
        _dataFile = dataFile;
        _counters = counters;
        _observers = observers;
    }

    /// <summary>Notified of the length of each durable record; set once, before the first commit.</summary>
    public IBackPressure? BackPressure { get; set; }

    public void SyncExtents() => _dataFile.Sync();

    public void OnRecordDurable(
        in RecordHeader header, in JournalPosition end, long lengthBytes, long beganTimestamp, CommitStates? attached)
    {
        if (header.Kind == RecordKind.Transaction)
        {
            _ring.Publish(header.State, end, attached);
            _published.Raise();
            _counters.CommittedTransactions++;
            _counters.PagesChanged += header.EntryCount;
            _counters.JournalTransactionBytes += lengthBytes;
            _observers.Durations.End(TimedWork.Commit, beganTimestamp);
            if (_observers.WantsCommits)
                _observers.Post(new CommitReport(header.TransactionId, (int)header.EntryCount, lengthBytes));
            if (PlantedFault.CallObserverBelowWrite)
                _observers.CallHere();
        }

        BackPressure?.OnRecordDurable(lengthBytes);
    }

    public void OnRecordWritten() => _observers.CallElsewhere();
}
