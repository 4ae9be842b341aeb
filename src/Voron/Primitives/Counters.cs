namespace Voron.Primitives;

/// <summary>What an environment counts. Each is changed by one thread at a time; readers may see them a moment late.</summary>
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

    /// <summary>Pages that transactions have taken, rolled back ones included.</summary>
    public long AllocatedPages;

    /// <summary>Bytes that committed transactions have written past the journal, or freed of what was written so, whichever is more.</summary>
    public long DirectBytes;
    public long PunchedBytes;
    public long TruncatedBytes;
}
