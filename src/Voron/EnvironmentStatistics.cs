namespace Voron;

/// <summary>The activity of an environment since it was opened, and its current content. Figures may be a moment apart.</summary>
public sealed record EnvironmentStatistics
{
    /// <summary>The page size in bytes.</summary>
    public required int PageSize { get; init; }

    /// <summary>The newest transaction that readers see.</summary>
    public required long PublishedTransactionId { get; init; }

    /// <summary>The transaction whose state the data file holds.</summary>
    public required long CheckpointTransactionId { get; init; }

    /// <summary>Pages below the high-water mark, including free ones.</summary>
    public required long PageCount { get; init; }

    /// <summary>Bytes of the data file.</summary>
    public required long DataFileBytes { get; init; }

    /// <summary>Bytes of journal records that replay would need. The journal limit applies to this figure.</summary>
    public required long LiveJournalBytes { get; init; }

    /// <summary>Bytes of all journal files, including those prepared or kept for reuse.</summary>
    public required long TotalJournalBytes { get; init; }

    /// <summary>Bytes of page versions in scratch memory.</summary>
    public required long ScratchBytes { get; init; }

    /// <summary>Bytes of native memory that scratch has taken from the system.</summary>
    public required long ScratchReservedBytes { get; init; }

    /// <summary>Bytes of page versions in the temporary file.</summary>
    public required long SpilledBytes { get; init; }

    /// <summary>Bytes of the buffers in which journal records are built.</summary>
    public required long JournalBufferBytes { get; init; }

    /// <summary>Bytes of memory in use for lookups; at most <see cref="StorageOptions.KeyHeadCacheBytes"/>.</summary>
    public required long KeyHeadCacheBytes { get; init; }

    /// <summary>Page versions that exist outside the data file.</summary>
    public required long PageVersions { get; init; }

    /// <summary>Open read transactions.</summary>
    public required int OpenReaders { get; init; }

    /// <summary>Read transactions that were never disposed and were released by the finalizer.</summary>
    public required long LeakedReaders { get; init; }

    /// <summary>Write transactions that were neither committed nor disposed, and were rolled back on behalf of the finalizer.</summary>
    public required long LeakedWriters { get; init; }

    /// <summary>Write transactions made durable.</summary>
    public required long CommittedTransactions { get; init; }

    /// <summary>Write transactions rolled back.</summary>
    public required long RolledBackTransactions { get; init; }

    /// <summary>Pages changed by committed transactions.</summary>
    public required long PagesChanged { get; init; }

    /// <summary>Bytes of transaction records.</summary>
    public required long JournalTransactionBytes { get; init; }

    /// <summary>Bytes written to the journal, including padding, flush lists and durability markers.</summary>
    public required long JournalBytes { get; init; }

    /// <summary>Write calls to the journal.</summary>
    public required long JournalWrites { get; init; }

    /// <summary>Time spent inside the device's write calls for the journal.</summary>
    public required TimeSpan JournalWriteTime { get; init; }

    /// <summary>Flushes to the data file.</summary>
    public required long Flushes { get; init; }

    /// <summary>Pages written by flushes.</summary>
    public required long FlushedPages { get; init; }

    /// <summary>Bytes written by flushes.</summary>
    public required long FlushedBytes { get; init; }

    /// <summary>Stretches of neighbouring pages written by flushes.</summary>
    public required long FlushSeeks { get; init; }

    /// <summary>Times that unflushed pages were written to a journal snapshot because a reader held the flusher back.</summary>
    public required long JournalSnapshots { get; init; }

    /// <summary>Operations that group commit combined with others into transactions.</summary>
    public required long GroupCommittedOperations { get; init; }

    /// <summary>Operations passed to <see cref="StorageEnvironment.WriteAsync(Action{WriteTransaction}, CancellationToken)"/> or
    /// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/> that are waiting to run.</summary>
    public required long QueuedOperations { get; init; }

    /// <summary>Times that a writer was slowed because the journal or scratch memory was over its limit.</summary>
    public required long BackPressureWaits { get; init; }

    /// <summary>Pages that transactions have freed, including rolled-back transactions.</summary>
    public required long FreedPages { get; init; }

    /// <summary>Bytes of the data file returned to the file system.</summary>
    public required long ReclaimedBytes { get; init; }

    /// <summary>True once a write has failed: the environment accepts no more writes.</summary>
    public required bool IsPoisoned { get; init; }

    /// <summary>False where the file system refused unbuffered writes.</summary>
    public required bool IsUnbuffered { get; init; }
}
