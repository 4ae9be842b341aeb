namespace Voron.Primitives;

/// <summary>The counters of an environment. Each is changed by one thread at a time; readers may see changes a moment late.</summary>
internal sealed class Counters
{
    public long CommittedTransactions;
    public long RolledBackTransactions;
    public long PagesChanged;
    public long JournalTransactionBytes;
    public long FlushCount;
    public long FlushedPages;
    public long FlushedBytes;
    public long FlushSeeks;
    public long JournalSnapshotCount;
    public long GroupCommittedOperations;
    public long BackPressureWaits;
    public long LeakedReaders;
    public long LeakedWriters;
    public long FreedPages;

    /// <summary>Pages that transactions have allocated, including rolled-back transactions.</summary>
    public long AllocatedPages;

    /// <summary>
    /// Bytes that committed transactions have written without the journal, or have freed of bytes written in this way, whichever is more.
    /// </summary>
    public long DirectBytes;
    public long PunchedBytes;
    public long TruncatedBytes;
}
