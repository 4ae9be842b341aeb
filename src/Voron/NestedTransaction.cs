namespace Voron;

/// <summary>A transaction inside a write transaction. If it is disposed without a commit, its changes are undone.</summary>
public readonly struct NestedTransaction : IDisposable
{
    private readonly Savepoint _savepoint;

    internal NestedTransaction(Savepoint savepoint) => _savepoint = savepoint;

    /// <summary>Makes the changes part of the outer transaction; they become durable with it.</summary>
    /// <exception cref="InvalidOperationException">
    /// It has ended, a nested transaction inside this one is open, or a <c>PutAsync</c> of the transaction has not completed.
    /// </exception>
    /// <exception cref="StorageFullException">
    /// There is no room for the puts; the transaction can only be rolled back, as a whole or to a savepoint.
    /// </exception>
    public void Commit() => _savepoint.Release();

    /// <summary>Undoes the changes if they were not committed, and ends a <c>PutAsync</c> that has not completed.</summary>
    public void Dispose()
    {
        if (!_savepoint.IsOpen)
            return;
        _savepoint.Rollback();
        _savepoint.Release();
    }
}
