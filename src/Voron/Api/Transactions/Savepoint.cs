using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>A point in a write transaction to which it can be rolled back.</summary>
/// <remarks>A handle that can be copied freely. It ends with its transaction, or with the operation of a group commit that created it.</remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct Savepoint : IDisposable
{
    private readonly WriteTransactionHandle _transaction;
    private readonly long _id;

    internal Savepoint(WriteTransactionHandle transaction, long id)
    {
        _transaction = transaction;
        _id = id;
    }

    private WriteTransactionBody Body
    {
        get
        {
            if (_transaction.IsDefault)
                EndedErrors.ThrowDefault("savepoint", "CreateSavepoint");
            var body = _transaction.Body;
            if (!body.HasSavepoint(_id))
                EndedErrors.ThrowSavepoint();
            return body;
        }
    }

    /// <summary>
    /// Undoes everything since the savepoint, which stays open. Savepoints created after it end, and so does each open <see cref="ValueWriter"/> and
    /// each <c>PutAsync</c> that has not completed: its task fails.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The savepoint or its transaction has ended.</exception>
    public void Rollback() => Body.RollbackToSavepoint(_id);

    /// <summary>Ends the savepoint and those created after it, and keeps the changes.</summary>
    /// <exception cref="InvalidOperationException">
    /// A <see cref="NestedTransaction"/> begun after it is open, a <c>PutAsync</c> of the transaction has not completed, or a
    /// <see cref="ValueWriter"/> is open.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The savepoint or its transaction has ended.</exception>
    /// <exception cref="StorageFullException">
    /// There is not enough space for the waiting puts; the transaction can only be rolled back, as a whole or to a savepoint.
    /// </exception>
    public void Release() => Body.ReleaseSavepoint(_id);

    /// <summary>
    /// Releases the savepoint if it has not ended. If nested transactions begun after it are open, everything since the first of them is undone. If
    /// there are none, a <c>PutAsync</c> that has not completed and an open <see cref="ValueWriter"/> continue.
    /// </summary>
    /// <exception cref="StorageFullException">
    /// There is not enough space for the waiting puts; the transaction can only be rolled back. Not thrown if an earlier failure has
    /// left it in that state.
    /// </exception>
    public void Dispose()
    {
        if (_transaction.OpenBody is { } body && body.HasSavepoint(_id))
            body.EndSavepoint(_id);
    }

    /// <summary>Describes the savepoint by its transaction, or says that it has ended.</summary>
    public override string ToString() => _transaction.Describe("savepoint", _id);
}
