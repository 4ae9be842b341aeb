namespace Voron;

/// <summary>What an environment has done since it was opened, and what it holds now. Figures may be a moment apart.</summary>
public sealed record EnvironmentStatistics
{
    /// <summary>Bytes of a page.</summary>
    public required int PageSize { get; init; }

    /// <summary>The newest transaction that readers see.</summary>
    public required long PublishedTransactionId { get; init; }

    /// <summary>The transaction whose state the data file holds.</summary>
    public required long CheckpointTransactionId { get; init; }

    /// <summary>Pages below the high-water mark, free ones included.</summary>
    public required long PageCount { get; init; }

    /// <summary>Bytes of the data file.</summary>
    public required long DataFileBytes { get; init; }

    /// <summary>Bytes of journal records that replay would need, which is what the limit of the journal is held against.</summary>
    public required long LiveJournalBytes { get; init; }

    /// <summary>Bytes of all journal files, those prepared or kept for reuse included.</summary>
    public required long TotalJournalBytes { get; init; }

    /// <summary>Bytes of page versions in scratch memory.</summary>
    public required long ScratchBytes { get; init; }

    /// <summary>Bytes of native memory that scratch has taken from the system.</summary>
    public required long ScratchReservedBytes { get; init; }

    /// <summary>Bytes of page versions in the temporary file.</summary>
    public required long SpilledBytes { get; init; }

    /// <summary>Bytes of the buffers in which journal records are made.</summary>
    public required long JournalBufferBytes { get; init; }

    /// <summary>Bytes of memory in use for lookups; at most <see cref="StorageOptions.KeyHeadCacheBytes"/>.</summary>
    public required long KeyHeadCacheBytes { get; init; }

    /// <summary>Page versions that are not only in the data file.</summary>
    public required long PageVersions { get; init; }

    /// <summary>Read transactions that are open.</summary>
    public required int OpenReaders { get; init; }

    /// <summary>Read transactions that were never disposed and were released by the finalizer.</summary>
    public required long LeakedReaders { get; init; }

    /// <summary>Write transactions that were neither committed nor disposed, and were rolled back for the finalizer.</summary>
    public required long LeakedWriters { get; init; }

    /// <summary>Write transactions made durable.</summary>
    public required long CommittedTransactions { get; init; }

    /// <summary>Write transactions rolled back.</summary>
    public required long RolledBackTransactions { get; init; }

    /// <summary>Pages changed by committed transactions.</summary>
    public required long PagesChanged { get; init; }

    /// <summary>Bytes of transaction records.</summary>
    public required long JournalTransactionBytes { get; init; }

    /// <summary>Bytes written to the journal, padding, flush lists and vouching records included.</summary>
    public required long JournalBytes { get; init; }

    /// <summary>Write calls to the journal.</summary>
    public required long JournalWrites { get; init; }

    /// <summary>Time inside the device's write calls for the journal.</summary>
    public required TimeSpan JournalWriteTime { get; init; }

    /// <summary>Flushes to the data file.</summary>
    public required long Flushes { get; init; }

    /// <summary>Pages that they wrote.</summary>
    public required long FlushedPages { get; init; }

    /// <summary>Bytes that they wrote.</summary>
    public required long FlushedBytes { get; init; }

    /// <summary>Stretches of neighbouring pages that they wrote.</summary>
    public required long FlushSeeks { get; init; }

    /// <summary>Times that unflushed pages were rewritten to a file of their own because a reader held the flusher back.</summary>
    public required long JournalSnapshots { get; init; }

    /// <summary>Operations that were merged into transactions with others.</summary>
    public required long GroupCommittedOperations { get; init; }

    /// <summary>Operations given to <see cref="StorageEnvironment.WriteAsync(Action{WriteTransaction}, CancellationToken)"/> or
    /// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/> that wait to be run.</summary>
    public required long QueuedOperations { get; init; }

    /// <summary>Times that a writer was slowed because journal or scratch were over their limits.</summary>
    public required long BackPressureWaits { get; init; }

    /// <summary>Pages that transactions have freed, rolled back ones included.</summary>
    public required long FreedPages { get; init; }

    /// <summary>Bytes of the data file given back to the file system.</summary>
    public required long ReclaimedBytes { get; init; }

    /// <summary>True once a write has failed: the environment takes no more writes.</summary>
    public required bool IsPoisoned { get; init; }

    /// <summary>False where the file system refused unbuffered writes.</summary>
    public required bool IsUnbuffered { get; init; }
}
