using System.Diagnostics;
using Voron.Transactions;

namespace Voron;

/// <summary>
/// A value uploaded by <see cref="StorageEnvironment.StageAsync(Stream, CancellationToken)"/>, to be put by
/// <see cref="WriteTree.Put(ReadOnlySpan{byte}, StagedValue)"/>.
/// </summary>
/// <remarks>
/// Any thread may use a staged value, which can be put once. Until a transaction that has put it is committed, its bytes occupy space in the data
/// file, or memory if they are fewer than <see cref="StorageOptions.LargeValueBytes"/>. Dispose of it when it is no longer needed: this frees the
/// space of a value that was not put, and does nothing after a put. If a staged value with space in the data file is no longer referenced, its space
/// is freed, and the log reports it. Staged values are lost when the environment is closed or crashes; their space is then free.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public sealed class StagedValue : IDisposable
{
    internal StagedValue(StagedContent content) => Content = content;

    /// <summary>The length of the value in bytes.</summary>
    public long Length => Content.Length;

    /// <summary>Whether the value can be put, or has been put.</summary>
    public StagedValueState State => Content.State switch
    {
        StagedState.Ready => StagedValueState.Ready,
        StagedState.Taken => StagedValueState.InTransaction,
        StagedState.Committed => StagedValueState.Committed,
        _ => StagedValueState.Disposed,
    };

    internal StagedContent Content { get; }

    /// <summary>
    /// Frees the space of the value if it was not put. If an open transaction has put it, a commit keeps the value, and a rollback frees its space.
    /// Never waits. Any thread may call this method, even after the environment was disposed.
    /// </summary>
    public void Dispose() => Content.Dispose();

    /// <summary>Returns the length and the state, for messages.</summary>
    public override string ToString() => $"staged value of {Length} bytes ({State})";
}
