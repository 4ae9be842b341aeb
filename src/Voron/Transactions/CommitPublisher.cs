using Voron.Format;
using Voron.Journal;
using Voron.Primitives;
using Voron.Snapshots;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>The services of <see cref="Flushing"/> for writers: it is notified of their durable records, and slows them when it must.</summary>
internal interface IBackPressure
{
    /// <summary>Called for each durable record by the thread that wrote it; is quick, and never throws.</summary>
    void OnRecordDurable(long bytes);

    /// <summary>Called before the writer is taken. Waits for a limited time when the journal or scratch memory is over its limit.</summary>
    void ThrottleWriter();

    /// <summary>As <see cref="ThrottleWriter"/>, without blocking a thread.</summary>
    ValueTask ThrottleWriterAsync();

    /// <summary>
    /// Called by the holder of the writer when it has found no room. Flushes all durable changes, so that pages freed by earlier
    /// transactions can be written directly and journal files can be reused. May take as long as a flush. If a flush has found no room
    /// itself, it is not tried again until a pause is over or the disk has more room.
    /// </summary>
    /// <returns>False when nothing was freed.</returns>
    /// <exception cref="EnvironmentPoisonedException">A write or a sync failed, now or earlier. The open transaction is not committed.</exception>
    bool TryFlush();

    /// <summary>
    /// Called by the holder of the writer when a flush has not made enough room for another file. Gives blocks of free pages back to the file
    /// system, and then flushes. Searches for free pages for a limited time, and continues from there at the next call.
    /// </summary>
    /// <returns>False when nothing was given back.</returns>
    /// <inheritdoc cref="TryFlush"/>
    bool TryPunch();
}

/// <summary>Makes durable transactions visible to readers, in order, counts them, and notifies the observers and the flusher.</summary>
internal sealed class CommitPublisher : IJournalListener
{
    private readonly StateRing _ring;
    private readonly Counters _counters;
    private readonly Observers _observers;

    public CommitPublisher(StateRing ring, Counters counters, Observers observers)
    {
        _ring = ring;
        _counters = counters;
        _observers = observers;
    }

    /// <summary>Notified of the length of each durable record; set once, before the first commit.</summary>
    public IBackPressure? BackPressure { get; set; }

    public void OnRecordDurable(in RecordHeader header, in JournalPosition end, long lengthBytes)
    {
        if (header.Kind == RecordKind.Transaction)
        {
            _ring.Publish(header.State, end);
            _counters.CommittedTransactions++;
            _counters.PagesChanged += header.EntryCount;
            _counters.JournalTransactionBytes += lengthBytes;
            if (_observers.WantsCommits)
                _observers.Post(new CommitReport(header.State.TransactionId, (int)header.EntryCount, lengthBytes));
            if (PlantedFault.CallObserverBelowWrite)
                _observers.CallHere();
        }

        BackPressure?.OnRecordDurable(lengthBytes);
    }

    public void OnRecordWritten() => _observers.CallElsewhere();
}
