using Voron.Format;

namespace Voron.Journal;

/// <summary>Notified when a record becomes durable, before its waiters are released.</summary>
internal interface IJournalListener
{
    /// <summary>Called in sequence order, by one thread at a time.</summary>
    void OnRecordDurable(in RecordHeader header, in JournalPosition end, long lengthBytes);

    /// <summary>
    /// Called after a write by the thread that wrote, once it no longer leads, unless that thread notifies the observers itself.
    /// </summary>
    void OnRecordWritten()
    {
    }
}
