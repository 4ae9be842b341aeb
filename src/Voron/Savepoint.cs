using Voron.Transactions;

namespace Voron;

/// <summary>A point in a write transaction to which it can be rolled back.</summary>
public readonly struct Savepoint : IDisposable
{
    private readonly WriteTransactionBody _body;
    private readonly long _generation;
    private readonly long _id;

    internal Savepoint(WriteTransactionBody body, long generation, long id)
    {
        _body = body;
        _generation = generation;
        _id = id;
    }

    private WriteTransactionBody Body
    {
        get
        {
            var body = _body ?? throw new InvalidOperationException("The savepoint was never created.");
            body.ThrowIfEnded(_generation);
            return body;
        }
    }

    /// <summary>
    /// Undoes everything since the savepoint, which stays open. Savepoints created after it end, and so does a <c>PutAsync</c> that has not
    /// completed: its task fails.
    /// </summary>
    /// <exception cref="InvalidOperationException">The savepoint has ended.</exception>
    public void Rollback() => Body.RollbackToSavepoint(_id);

    /// <summary>Ends the savepoint and those created after it, and keeps the changes.</summary>
    /// <exception cref="InvalidOperationException">
    /// The savepoint has ended, a <see cref="NestedTransaction"/> begun after it is open, or a <c>PutAsync</c> of the transaction has not
    /// completed.
    /// </exception>
    /// <exception cref="StorageFullException">
    /// There is no room for the puts; the transaction can only be rolled back, as a whole or to a savepoint.
    /// </exception>
    public void Release() => Body.ReleaseSavepoint(_id);

    /// <summary>
    /// Releases the savepoint if it has not ended. Undoes the changes of open nested transactions begun after it, and everything that came
    /// after these. If there are none, a <c>PutAsync</c> that has not completed continues.
    /// </summary>
    /// <exception cref="StorageFullException">
    /// There is no room for the puts; the transaction can only be rolled back. Not thrown when an earlier failure has left it in that state.
    /// </exception>
    public void Dispose()
    {
        if (IsOpen)
            _body.EndSavepoint(_id);
    }

    internal bool IsOpen => _body != null && _body.Generation == _generation && _body.HasSavepoint(_id);
}
