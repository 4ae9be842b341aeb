namespace Voron.Transactions;

/// <summary>The progress of a commit, as far as its caller needs it.</summary>
internal struct CommitProgress
{
    /// <summary>True when the record is under way: from then on, the outcome is that of the record.</summary>
    public bool IsSubmitted;

    /// <summary>The transaction, its changed pages and its record, once the record is packed; zeros before, and when nothing has changed.</summary>
    public CommitReport Report;
}
