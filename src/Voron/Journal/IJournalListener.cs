using Voron.Format;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>Notified when a record becomes durable, before its waiters are released.</summary>
internal interface IJournalListener
{
    /// <summary>
    /// Makes durable everything that the transactions of issued records have written past the journal. Called before
    /// <see cref="OnRecordDurable"/> if one of the records needs it, perhaps by another thread, while the records are being written.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">The sync failed; the environment is poisoned.</exception>
    void SyncExtents();

    /// <summary>Called in sequence order, by one thread at a time.</summary>
    /// <param name="header">The header of the record.</param>
    /// <param name="end">The end of the journal behind the record.</param>
    /// <param name="lengthBytes">The length of the record.</param>
    /// <param name="beganTimestamp"><inheritdoc cref="JournalEntry.BeganTimestamp" path="/summary/node()"/></param>
    /// <param name="attached"><inheritdoc cref="JournalEntry.Attached" path="/summary/node()"/></param>
    void OnRecordDurable(in RecordHeader header, in JournalPosition end, long lengthBytes, long beganTimestamp, CommitStates? attached);

    /// <summary>
    /// Called after a write by the thread that wrote, once it no longer leads, unless that thread notifies the observers itself.
    /// </summary>
    void OnRecordWritten()
    {
    }
}
