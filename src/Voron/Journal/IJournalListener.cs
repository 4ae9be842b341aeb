namespace Voron.Journal;

/// <summary>Publishes the states of records: when they become durable, before their waiters are released, or earlier if they are lazy.</summary>
internal interface IJournalListener
{
    /// <summary>
    /// Makes durable all bytes that the transactions of issued records have written past the journal. Called before <see cref="OnRecordDurable"/>
    /// if one of the records needs it, perhaps by another thread, while the records are being written.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">The sync failed; the environment is poisoned.</exception>
    void SyncExtents();

    /// <summary>Called in sequence order, by one thread at a time, for each record that is durable, even if it was published before.</summary>
    void OnRecordDurable(RecordBuffer record);

    /// <summary>Returns true if the transaction before that of the record has been published. Called under the lock of the queue.</summary>
    bool IsNext(RecordBuffer record);

    /// <summary>
    /// Publishes a lazy record that is not durable yet, and is the next. Called under the lock of the queue, while no other thread can publish the
    /// record.
    /// </summary>
    void Publish(RecordBuffer record);

    /// <summary>
    /// Called after a write by the thread that wrote, once it no longer leads, unless that thread notifies the observers itself.
    /// </summary>
    void OnRecordWritten()
    {
    }
}
