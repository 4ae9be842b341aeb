using System.Diagnostics;
using Voron.Testing;

namespace Voron.Transactions;

/// <summary>The savepoint of the group-commit operation that runs in the write transaction.</summary>
/// <remarks>
/// Most operations only put, and their puts wait in buffers. A mark in the buffers is enough to undo them. A savepoint costs more: it applies the
/// other operations' waiting puts one by one. It is therefore created by the operation's first action other than a waiting put:
/// <code>
///   ended ──Begin──▶ marked ──Ensure──▶ created
///     ▲                │                  │
///     └──────End───────┴───────End────────┘
/// </code>
/// While it is marked, nothing of the operation has reached a page. Used by the holder of the writer.
/// </remarks>
/// <param name="buffers">The waiting puts.</param>
/// <param name="throwIfBroken">Throws if the transaction is broken.</param>
internal sealed class GroupOperationSavepoint(PutBufferPool buffers, Action throwIfBroken)
{
    private long _id;

    /// <summary>Creates a savepoint, but applies no waiting puts. Set by the transaction, before its first operation.</summary>
    public Func<long>? Create { get; set; }

    /// <summary>True while the marks in the buffers serve as the savepoint.</summary>
    public bool IsMarked { get; private set; }

    /// <summary>Begins an operation, whose puts wait after the marks.</summary>
    public void Begin()
    {
        Debug.Assert(!IsMarked && _id == 0, "The savepoint of an operation must end before the next operation begins.");
        buffers.Mark();
        IsMarked = true;
    }

    /// <summary>
    /// Creates the savepoint if the marks have served so far: applies the puts of earlier operations; those of this operation keep waiting.
    /// </summary>
    /// <remarks>
    /// When the puts of earlier operations cannot be applied, the transaction is broken, without a savepoint: all its operations must run again.
    /// An operation that catches the exception and continues sees it again, instead of receiving a savepoint that would hide it.
    /// </remarks>
    /// <exception cref="InvalidOperationException">Puts of earlier operations could not be applied, now or before.</exception>
    public void Ensure()
    {
        if (!IsMarked || PlantedFault.ForgetOperationSavepoint)
            return;
        throwIfBroken();
        buffers.ApplyMarked();
        _id = Create!();
        IsMarked = false;
    }

    /// <summary>Ends the operation.</summary>
    /// <returns>The id of its savepoint, which the caller ends; 0 when it has none.</returns>
    public long End()
    {
        var id = _id;
        _id = 0;
        IsMarked = false;
        return id;
    }
}
