namespace Voron;

/// <summary>Describes a commit for <see cref="StorageOptions.CommitObserver"/>.</summary>
/// <param name="TransactionId">The id of the transaction.</param>
/// <param name="PagesChanged">The number of pages for which the transaction left a new version.</param>
/// <param name="JournalBytes">The size of its journal record in bytes, including padding.</param>
public readonly record struct CommitReport(long TransactionId, int PagesChanged, long JournalBytes);
