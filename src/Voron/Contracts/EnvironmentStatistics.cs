namespace Voron;

/// <summary>The activity of an environment since it was opened, and its current content. Figures may be a moment apart.</summary>
public sealed record EnvironmentStatistics
{
    /// <summary>The time at which the environment was opened.</summary>
    public required DateTimeOffset OpenedAt { get; init; }

    /// <summary>The page size in bytes.</summary>
    public required int PageSize { get; init; }

    /// <summary>The id of the newest transaction visible to readers.</summary>
    public required long PublishedTransactionId { get; init; }

    /// <summary>The id of the newest durable transaction; older than the published one while lazy commits wait to be written.</summary>
    public required long DurableTransactionId { get; init; }

    /// <summary>
    /// The time of the newest commit visible to readers; null before the first commit, and in version 1 of the format. After a clock was wrong, it
    /// may be later than the current time: commits then have this time until the clock has passed it.
    /// </summary>
    public DateTimeOffset? PublishedAt { get; init; }

    /// <summary>The id of the transaction whose state the data file contains.</summary>
    public required long CheckpointTransactionId { get; init; }

    /// <summary>Pages below the high-water mark, including free ones.</summary>
    public required long PageCount { get; init; }

    /// <summary>Bytes of the data file, without the blocks that are allocated or written ahead of need after its end.</summary>
    public required long DataFileBytes { get; init; }

    /// <summary>
    /// Bytes of free pages in the data file, as of a recent flush. Null while they are unknown: for a moment after the opening, until the first
    /// <see cref="StorageEnvironment.Flush"/> without <see cref="StorageOptions.BackgroundFlush"/>, and in an environment opened for reading only.
    /// </summary>
    public required long? FreeDataFileBytes { get; init; }

    /// <summary>Bytes that can still be written to the volume; null if the system does not report them, and in memory without a limit.</summary>
    public required long? VolumeFreeBytes { get; init; }

    /// <summary>
    /// Bytes of journal records that replay would need. <see cref="JournalLimitBytes"/> applies to this figure, less the records of the last flush.
    /// </summary>
    public required long LiveJournalBytes { get; init; }

    /// <summary>The value of <see cref="StorageOptions.JournalLimitBytes"/>: above it, writers are delayed.</summary>
    public required long JournalLimitBytes { get; init; }

    /// <summary>Bytes of all journal files, including those prepared or kept for reuse.</summary>
    public required long TotalJournalBytes { get; init; }

    /// <summary>Bytes of page versions outside the data file, in scratch memory or in the temporary file.</summary>
    public required long ScratchBytes { get; init; }

    /// <summary>Bytes of native memory that scratch has allocated from the system.</summary>
    public required long ScratchReservedBytes { get; init; }

    /// <summary>Bytes of the temporary file in use for page versions.</summary>
    public required long SpilledBytes { get; init; }

    /// <summary>The value of <see cref="StorageOptions.ScratchMemoryBytes"/>: further versions go to the temporary file.</summary>
    public required long ScratchMemoryLimitBytes { get; init; }

    /// <summary>Bytes of page versions and of their entries in the version table. <see cref="ScratchLimitBytes"/> applies to this figure.</summary>
    public required long VersionBytes { get; init; }

    /// <summary>The value of <see cref="StorageOptions.ScratchLimitBytes"/>: above it, writers are delayed.</summary>
    public required long ScratchLimitBytes { get; init; }

    /// <summary>Bytes of the buffers in which journal records are built.</summary>
    public required long JournalBufferBytes { get; init; }

    /// <summary>
    /// Bytes of native memory in use: scratch, key heads, journal buffers and lists. The dictionaries of compressed values count as well, although
    /// they are on the managed heap. <see cref="StorageOptions.MemoryLimitBytes"/> bounds this figure.
    /// </summary>
    public required long NativeMemoryBytes { get; init; }

    /// <summary>Bytes of memory in use for lookups; at most <see cref="StorageOptions.KeyHeadCacheBytes"/>.</summary>
    public required long KeyHeadCacheBytes { get; init; }

    /// <summary>The value of <see cref="StorageOptions.KeyHeadCacheBytes"/>, the maximum of <see cref="KeyHeadCacheBytes"/>.</summary>
    public required long KeyHeadCacheLimitBytes { get; init; }

    /// <summary>Page versions that exist outside the data file.</summary>
    public required long PageVersions { get; init; }

    /// <summary>Open read transactions.</summary>
    public required int OpenReaders { get; init; }

    /// <summary>The maximum of <see cref="OpenReaders"/>.</summary>
    public required int OpenReadersLimit { get; init; }

    /// <summary>
    /// The id of the newest transaction visible to the oldest snapshot in use, of a read transaction or of a verification; null when there is none.
    /// While it is below <see cref="PublishedTransactionId"/>, newer changes stay in memory and in the journal.
    /// </summary>
    public required long? OldestReaderTransactionId { get; init; }

    /// <summary>The time for which that snapshot has been in use; null when there is none.</summary>
    public required TimeSpan? OldestReaderAge { get; init; }

    /// <summary>Waits for the writer that have lasted more than five seconds, including waits still in progress.</summary>
    public required long LongWriterWaits { get; init; }

    /// <summary>Read transactions that were never disposed and were released by the finalizer.</summary>
    public required long LeakedReaders { get; init; }

    /// <summary>Write transactions that were neither committed nor disposed, and were rolled back on behalf of the finalizer.</summary>
    public required long LeakedWriters { get; init; }

    /// <summary>Write transactions made durable.</summary>
    public required long CommittedTransactions { get; init; }

    /// <summary>Write transactions rolled back.</summary>
    public required long RolledBackTransactions { get; init; }

    /// <summary>Pages changed by committed transactions, as in <see cref="CommitReport.PagesChanged"/>.</summary>
    public required long PagesChanged { get; init; }

    /// <summary>Bytes of transaction records.</summary>
    public required long JournalTransactionBytes { get; init; }

    /// <summary>Bytes written to the journal, including padding, flush lists and durability markers.</summary>
    public required long JournalBytes { get; init; }

    /// <summary>Write calls to the journal.</summary>
    public required long JournalWrites { get; init; }

    /// <summary>Time spent inside the device's write calls for the journal: the sum, where two of them are under way at once.</summary>
    public required TimeSpan JournalWriteTime { get; init; }

    /// <summary>Flushes to the data file.</summary>
    public required long Flushes { get; init; }

    /// <summary>Pages written by flushes.</summary>
    public required long FlushedPages { get; init; }

    /// <summary>Bytes written by flushes.</summary>
    public required long FlushedBytes { get; init; }

    /// <summary>Contiguous page ranges written by flushes.</summary>
    public required long FlushSeeks { get; init; }

    /// <summary>Times that unflushed pages were written to a journal snapshot because a reader held the flusher back.</summary>
    public required long JournalSnapshots { get; init; }

    /// <summary>Operations that group commit combined with others into transactions.</summary>
    public required long GroupCommittedOperations { get; init; }

    /// <summary>
    /// Operations passed to <see cref="StorageEnvironment.WriteAsync(Action{WriteTransaction}, CancellationToken)"/> or
    /// <see cref="StorageEnvironment.Write(Action{WriteTransaction})"/> that are waiting to run.
    /// </summary>
    public required long QueuedOperations { get; init; }

    /// <summary>The value of <see cref="StorageOptions.MaxQueuedOperations"/>, which limits only the operations of <c>WriteAsync</c>.</summary>
    public required int QueuedOperationsLimit { get; init; }

    /// <summary>Times that a writer was slowed because the journal or scratch memory was over its limit.</summary>
    public required long BackPressureWaits { get; init; }

    /// <summary>The total time for which writers were slowed, summed over all of them.</summary>
    public required TimeSpan BackPressureTime { get; init; }

    /// <summary>True while the journal or scratch memory is over its limit, so that writers are slowed.</summary>
    public required bool IsBackPressureActive { get; init; }

    /// <summary>Pages freed by transactions, including rolled-back ones.</summary>
    public required long FreedPages { get; init; }

    /// <summary>Bytes of the data file returned to the file system.</summary>
    public required long ReclaimedBytes { get; init; }

    /// <summary>Finished background verifications.</summary>
    public required long ScrubRuns { get; init; }

    /// <summary>Bytes read by background verifications.</summary>
    public required long ScrubbedBytes { get; init; }

    /// <summary>Problems found by background verifications. Each verification finds a persistent problem again.</summary>
    public required long ScrubProblems { get; init; }

    /// <summary>The time at which the last background verification ended; null if none has ended since the environment was opened.</summary>
    public required DateTimeOffset? LastScrubAt { get; init; }

    /// <summary>Problems found by the last background verification.</summary>
    public required long LastScrubProblems { get; init; }

    /// <summary>True once a write has failed: the environment accepts no more writes.</summary>
    public required bool IsPoisoned { get; init; }

    /// <summary>False if the file system refused unbuffered writes.</summary>
    public required bool IsUnbuffered { get; init; }

    /// <summary>
    /// Bytes of the data file reserved for staged values and bulk loads: by uploads and loads in progress, and by values that no committed
    /// transaction has put yet.
    /// </summary>
    public required long StagedBytes { get; init; }
}
