namespace Voron;

/// <summary>Describes a commit for <see cref="StorageOptions.CommitObserver"/>.</summary>
/// <param name="TransactionId">The id of the transaction.</param>
/// <param name="PagesChanged">
/// The number of entries in its journal record: each changed page, and each extent of pages that it wrote or freed together, counts once.
/// </param>
/// <param name="JournalBytes">The size of its journal record in bytes, including padding.</param>
public readonly record struct CommitReport(long TransactionId, int PagesChanged, long JournalBytes);
