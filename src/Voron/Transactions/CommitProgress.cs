namespace Voron.Transactions;

/// <summary>The progress of a commit, as far as its caller needs it.</summary>
internal struct CommitProgress
{
    /// <summary>True once the record is submitted: from then on, the record decides the outcome.</summary>
    public bool IsSubmitted;

    /// <summary>The transaction, its changed pages and its record, once the record is complete; zeros before, and when nothing has changed.</summary>
    public CommitReport Report;
}
