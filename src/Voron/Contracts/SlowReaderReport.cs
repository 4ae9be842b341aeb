namespace Voron;

/// <summary>
/// Describes a reader that the flusher cannot get past, for <see cref="StorageOptions.SlowReaderObserver"/>. Reported when half the limit of
/// journal or scratch is reached.
/// </summary>
/// <param name="TransactionId">The id of the transaction whose snapshot it reads.</param>
/// <param name="JournalBytes">The number of journal bytes that are kept.</param>
/// <param name="ScratchBytes">The number of bytes of scratch memory in use.</param>
/// <param name="OpenedAt">The place where it was opened if <see cref="StorageOptions.CaptureTransactionStacks"/> is set; otherwise null.</param>
/// <param name="Age">The time for which it has been open.</param>
/// <param name="ThreadId">The id of the managed thread that began it.</param>
public readonly record struct SlowReaderReport(
    long TransactionId, long JournalBytes, long ScratchBytes, string? OpenedAt, TimeSpan Age, int ThreadId);
