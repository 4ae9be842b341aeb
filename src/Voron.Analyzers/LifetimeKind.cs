namespace Voron.Analyzers;

/// <summary>What a value has to do with the lifetime of a transaction.</summary>
internal enum LifetimeKind
{
    None,

    /// <summary>A read or write transaction.</summary>
    Transaction,

    /// <summary>A tree, cursor, range, savepoint or stream: throws when its transaction has ended.</summary>
    Handle,

    /// <summary>A span, or a struct of spans: points into pages.</summary>
    View,

    /// <summary>An object of the caller that a lookup has filled: only the spans that it returns belong to the transaction.</summary>
    Batch,
}
