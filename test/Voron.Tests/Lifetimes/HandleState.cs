namespace Voron.Tests.Lifetimes;

/// <summary>What has happened to a handle before it is used.</summary>
internal enum HandleState
{
    /// <summary>Nothing: it can be used.</summary>
    Open,

    /// <summary>It was never begun or opened.</summary>
    Default,

    /// <summary>It was disposed of.</summary>
    Disposed,

    /// <summary>Its transaction was disposed of.</summary>
    TransactionDisposed,

    /// <summary>Its transaction was committed.</summary>
    TransactionCommitted,

    /// <summary>Its transaction was rolled back to a savepoint that is older than the handle.</summary>
    RolledBack,

    /// <summary>The operation of a group commit that it belongs to has returned.</summary>
    OperationReturned,

    /// <summary>The environment was disposed of, with the transaction open.</summary>
    EnvironmentClosed,

    /// <summary>The environment was disposed of, and the transaction after it.</summary>
    AllClosed,
}
