namespace Voron;

/// <summary>The state of a <see cref="StagedValue"/>.</summary>
public enum StagedValueState
{
    /// <summary>The value can be put.</summary>
    Ready,

    /// <summary>The value was put in the open write transaction. If that transaction is rolled back, the value is ready again.</summary>
    InTransaction,

    /// <summary>The value belongs to a transaction that was committed. It cannot be put again.</summary>
    Committed,

    /// <summary>The value was disposed, and cannot be put.</summary>
    Disposed,
}
