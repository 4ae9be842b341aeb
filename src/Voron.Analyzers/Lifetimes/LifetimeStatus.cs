namespace Voron.Analyzers.Lifetimes;

/// <summary>Whether a value may be used.</summary>
internal enum LifetimeStatus
{
    Valid,

    /// <summary>Its transaction was disposed, or its scope ended.</summary>
    Disposed,

    /// <summary>Its transaction was committed.</summary>
    Committed,

    /// <summary>The handle itself was disposed, committed or released.</summary>
    Closed,

    /// <summary>Its transaction has written since the span was read.</summary>
    Overwritten,

    /// <summary>Its cursor has moved since the span was read.</summary>
    Moved,
}
