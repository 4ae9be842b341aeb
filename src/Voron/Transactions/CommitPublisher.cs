using Voron.Format;
using Voron.Journal;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>What <see cref="Flushing"/> does for those who write: it is told of what they wrote, and slows them when it must.</summary>
internal interface IBackPressure
{
    /// <summary>Called for each durable record by whoever wrote it; quick, and never throws.</summary>
    void OnRecordDurable(long bytes);

    /// <summary>Called before the writer is taken. Waits a while when journal or scratch are over their limits.</summary>
    void ThrottleWriter();

    /// <summary>As <see cref="ThrottleWriter"/>, without blocking a thread.</summary>
    ValueTask ThrottleWriterAsync();

    /// <summary>
    /// Called by the holder of the writer, who has found no room: flushes what is durable, so that pages freed by earlier transactions can
    /// be written directly and journal files be used again. May take as long as a flush. One that has found no room itself is not tried
    /// again before a pause is over, or the disk has more room.
    /// </summary>
    /// <returns>False when nothing has come free.</returns>
    /// <exception cref="EnvironmentPoisonedException">A write or a sync failed, now or before. The open transaction is not committed.</exception>
    bool TryFlush();

    /// <summary>
    /// Called by the holder of the writer, for whom a flush has not made enough room for another file: gives blocks of free pages back to the
    /// file system, and flushes then. Looks for free pages for a limited time, and goes on there at the next call.
    /// </summary>
    /// <returns>False when nothing was given back.</returns>
    /// <inheritdoc cref="TryFlush"/>
    bool TryPunch();
}

/// <summary>Makes durable transactions visible to readers, in order, and tells whoever counts them.</summary>
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

    /// <summary>Where to tell of what was written; set once, before the first commit.</summary>
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
