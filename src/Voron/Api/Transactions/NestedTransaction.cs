using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <summary>A transaction inside a write transaction. If it is disposed without a commit, its changes are undone.</summary>
/// <remarks>A handle that can be copied freely. It ends with its transaction, or with the operation of a group commit that began it.</remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct NestedTransaction : IDisposable
{
    private readonly WriteTransactionHandle _transaction;
    private readonly long _id;

    internal NestedTransaction(WriteTransactionHandle transaction, long savepoint)
    {
        _transaction = transaction;
        _id = savepoint;
    }

    private WriteTransactionBody Body
    {
        get
        {
            if (_transaction.IsDefault)
                EndedErrors.ThrowDefault("nested transaction", "BeginNested");
            var body = _transaction.Body;
            if (!body.HasSavepoint(_id))
                EndedErrors.ThrowNestedTransaction();
            return body;
        }
    }

    /// <summary>Makes the changes part of the outer transaction; they become durable with it.</summary>
    /// <exception cref="InvalidOperationException">
    /// A nested transaction inside this one is open, a <c>PutAsync</c> of the transaction has not completed, or a <see cref="ValueWriter"/> is open.
    /// </exception>
    /// <exception cref="ObjectDisposedException">It has ended, or the transaction around it has ended.</exception>
    /// <exception cref="StorageFullException">
    /// There is not enough space for the waiting puts; the transaction can only be rolled back, as a whole or to a savepoint.
    /// </exception>
    public void Commit() => Body.ReleaseSavepoint(_id);

    /// <summary>
    /// If the changes were not committed, ends each <c>PutAsync</c> that has not completed and each open <see cref="ValueWriter"/>, and undoes
    /// the changes.
    /// </summary>
    public void Dispose()
    {
        if (_transaction.OpenBody is not { } body || !body.HasSavepoint(_id))
            return;
        body.RollbackToSavepoint(_id);
        body.ReleaseSavepoint(_id);
    }

    /// <summary>Describes the transaction by the one around it, or says that it has ended.</summary>
    public override string ToString() => _transaction.Describe("nested transaction", _id);
}
