namespace Voron;

/// <summary>
/// A write or a sync has failed, so the content of the disk is unknown. The environment refuses all further writes, with the first failure as the
/// inner exception. Reads continue to work. Opening the environment again recovers it.
/// </summary>
public sealed class EnvironmentPoisonedException : VoronException
{
    internal EnvironmentPoisonedException(string message, CommitOutcome outcome, Exception? cause)
        : base(message, cause)
    {
        Outcome = outcome;
    }

    /// <summary>The outcome of the transaction that this exception ended.</summary>
    public CommitOutcome Outcome { get; }
}

/// <summary>The outcome of a transaction whose commit threw.</summary>
public enum CommitOutcome
{
    /// <summary>The transaction is not committed, and will not be after the environment is reopened.</summary>
    NotCommitted,

    /// <summary>The write had begun. Whether the transaction was committed is known only when the environment is opened again.</summary>
    Unknown,
}
