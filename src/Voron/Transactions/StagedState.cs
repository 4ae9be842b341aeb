namespace Voron.Transactions;

/// <summary>The states of a <see cref="StagedContent"/>.</summary>
internal enum StagedState
{
    /// <summary>The upload is under way.</summary>
    Uploading,

    /// <summary>It can be put.</summary>
    Ready,

    /// <summary>The open write transaction has taken it.</summary>
    Taken,

    /// <summary>The open write transaction has taken it, and its owner has disposed it: a rollback frees its pages.</summary>
    TakenAndDisposed,

    /// <summary>It belongs to a transaction that was committed, or whose outcome is unknown.</summary>
    Committed,

    /// <summary>It was disposed, and its pages are free.</summary>
    Disposed,
}
