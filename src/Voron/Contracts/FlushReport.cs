namespace Voron;

/// <summary>Describes a flush for <see cref="StorageOptions.FlushObserver"/>.</summary>
/// <param name="TransactionId">The id of the transaction whose state the data file now holds.</param>
/// <param name="Pages">The number of pages written; each page of an extent counts.</param>
/// <param name="Leaves">The number of these pages that are leaves, of trees or of sets of ids.</param>
/// <param name="Branches">The number of these pages that are branches, of trees or of sets of ids.</param>
/// <param name="Overflows">The number of these pages that belong to overflow extents.</param>
/// <param name="Seeks">The number of contiguous page ranges written, that is, of positions to which the device had to seek.</param>
/// <param name="Bytes">The number of bytes written to the data file.</param>
/// <param name="Transactions">The number of transactions since the previous flush.</param>
/// <param name="Duration">The time from the choice of the state to the durable checkpoint.</param>
public readonly record struct FlushReport(
    long TransactionId, int Pages, int Leaves, int Branches, int Overflows, int Seeks, long Bytes, long Transactions, TimeSpan Duration)
{
    /// <summary>Bytes of the flush's own journal records, which need no flush.</summary>
    internal long OwnJournalBytes { get; init; }
}
