namespace Voron.Primitives;

/// <summary>The counters of an environment. Each is changed by one thread at a time; readers may see changes a moment late.</summary>
internal sealed class Counters
{
    public long CommittedTransactions;

    /// <summary>The id of the newest durable transaction.</summary>
    public long DurableTransactionId;
    public long RolledBackTransactions;
    public long PagesChanged;
    public long JournalTransactionBytes;
    public long FlushCount;
    public long FlushedPages;
    public long FlushedBytes;
    public long FlushSeeks;

    /// <summary>The time in UTC at which the last flush ended, in ticks; 0 when there was none.</summary>
    public long LastFlushUtcTicks;

    /// <summary>The duration of the last flush in ticks of 100 ns.</summary>
    public long LastFlushDuration;
    public long JournalSnapshotCount;
    public long GroupCommittedOperations;
    public long BackPressureWaits;

    /// <summary>The total time that delayed writers have waited, in ticks of <see cref="System.Diagnostics.Stopwatch"/>.</summary>
    public long BackPressureTicks;
    public long LongWriterWaits;
    public long LeakedReaders;
    public long LeakedWriters;
    public long FreedPages;

    /// <summary>Free pages as of a recent checkpoint; -1 while their number is unknown.</summary>
    public long FreePages = -1;

    /// <summary>Pages that transactions have allocated, including rolled-back transactions.</summary>
    public long AllocatedPages;

    /// <summary>
    /// Bytes that committed transactions have written without the journal, or bytes written in this way that they have freed, whichever is more.
    /// </summary>
    public long DirectBytes;
    public long PunchedBytes;
    public long TruncatedBytes;
    public long ScrubRuns;
    public long ScrubbedBytes;
    public long ScrubProblems;

    /// <summary>The time in UTC at which the last background verification ended, in ticks; 0 when there was none.</summary>
    public long LastScrubUtcTicks;
    public long LastScrubProblems;

    /// <summary>Backups and copies in progress; changed by several threads.</summary>
    public int BackupsUnderWay;

    /// <summary>Compactions in progress, including those into another directory; changed by several threads.</summary>
    public int CompactionsUnderWay;
}
