namespace Voron;

/// <summary>
/// Describes a reader that holds the flusher back, for <see cref="StorageOptions.SlowReaderObserver"/>, which is called when half of
/// <see cref="StorageOptions.JournalLimitBytes"/> or <see cref="StorageOptions.ScratchLimitBytes"/> is reached.
/// </summary>
/// <param name="TransactionId">The id of the newest transaction visible to its snapshot.</param>
/// <param name="JournalBytes">
/// The number of bytes of journal records that replay would need, as in <see cref="EnvironmentStatistics.LiveJournalBytes"/>.
/// </param>
/// <param name="ScratchBytes">
/// The number of bytes of page versions and of their entries in the version table, as in <see cref="EnvironmentStatistics.VersionBytes"/>.
/// </param>
/// <param name="OpenedAt">The stack trace of its opening if <see cref="StorageOptions.CaptureTransactionStacks"/> is set; otherwise null.</param>
/// <param name="Age">The time for which it has been open.</param>
/// <param name="ThreadId">The id of the managed thread that began it.</param>
public readonly record struct SlowReaderReport(
    long TransactionId, long JournalBytes, long ScratchBytes, string? OpenedAt, TimeSpan Age, int ThreadId);
