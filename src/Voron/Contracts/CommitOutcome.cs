namespace Voron;

/// <summary>The outcome of a transaction whose commit threw.</summary>
public enum CommitOutcome
{
    /// <summary>The transaction is not committed, and will not be after the environment is reopened.</summary>
    NotCommitted,

    /// <summary>The write had begun. Whether the transaction was committed will be known when the environment is opened again.</summary>
    Unknown,
}
