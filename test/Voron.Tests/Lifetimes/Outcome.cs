namespace Voron.Tests.Lifetimes;

/// <summary>The result of a call through a handle.</summary>
internal enum Outcome
{
    /// <summary>No exception.</summary>
    Works,

    /// <summary>The handle is a default value: an <see cref="InvalidOperationException"/> that says so.</summary>
    NeverBegun,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the transaction.</summary>
    TransactionEnded,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the tree.</summary>
    TreeClosed,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the cursor.</summary>
    CursorClosed,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the query.</summary>
    QueryEnded,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the stream.</summary>
    StreamClosed,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the writer of a value.</summary>
    ValueWriterEnded,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the bulk load.</summary>
    LoadEnded,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the savepoint.</summary>
    SavepointEnded,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the nested transaction.</summary>
    NestedEnded,

    /// <summary>An <see cref="ObjectDisposedException"/> that names the environment.</summary>
    EnvironmentClosed,

    /// <summary>A <see cref="NotSupportedException"/>.</summary>
    NotSupported,

    /// <summary>An <see cref="InvalidOperationException"/>: the place has no entry.</summary>
    NoEntry,
}
