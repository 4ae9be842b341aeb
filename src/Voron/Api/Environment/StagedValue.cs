using System.Diagnostics;
using Voron.Transactions;

namespace Voron;

/// <summary>
/// A value that was uploaded by <see cref="StorageEnvironment.StageAsync(Stream, CancellationToken)"/>, and waits to be put by
/// <see cref="WriteTree.Put(ReadOnlySpan{byte}, StagedValue)"/>.
/// </summary>
/// <remarks>
/// Any thread may use it. It can be put once. Until a transaction that has put it is committed, its bytes take space in the data file, or memory if
/// they are fewer than <see cref="StorageOptions.LargeValueBytes"/>. Dispose it when it is no longer needed: this gives the space back if the value
/// was not put, and does nothing if it was. A staged value that nothing refers to any more is reported in the log, and its space is given back.
/// Staged values do not survive the closing of the environment, nor a crash; their space is free then.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class StagedValue : IDisposable
{
    internal StagedValue(StagedContent content) => Content = content;

    /// <summary>The length of the value in bytes.</summary>
    public long Length => Content.Length;

    /// <summary>Whether the value can be put, or has been.</summary>
    public StagedValueState State => Content.State switch
    {
        StagedState.Ready => StagedValueState.Ready,
        StagedState.Taken => StagedValueState.InTransaction,
        StagedState.Committed => StagedValueState.Committed,
        _ => StagedValueState.Disposed,
    };

    internal StagedContent Content { get; }

    /// <summary>
    /// Gives the space of the value back if it was not put. A value that was put in an open transaction stays, if the transaction is committed; if it
    /// is rolled back, the space is given back then. Never waits; any thread may call this method, also after the environment was disposed.
    /// </summary>
    public void Dispose() => Content.Dispose();

    /// <summary>Returns the length and the state, for messages.</summary>
    public override string ToString() => $"staged value of {Length} bytes ({State})";
}
