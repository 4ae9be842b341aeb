namespace Voron.Transactions;

/// <summary>The mark of a call on a handle that reads in a transaction, from the check of the handle to the end of the call.</summary>
internal readonly ref struct ReadingCall
{
    private readonly OwningTransaction _owner;
    private readonly bool _mark;

    /// <summary>Begins a call on a cursor.</summary>
    /// <param name="cursor">The cursor.</param>
    /// <param name="generation">The generation in which the handle was opened.</param>
    /// <exception cref="ObjectDisposedException">The cursor was disposed, or its transaction has ended.</exception>
    public ReadingCall(CursorLease cursor, long generation) => _owner = cursor.Enter(generation, out _mark);

    /// <summary>Begins a call on a tree.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="generation">The generation in which the handle was opened.</param>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public ReadingCall(OpenTree tree, long generation)
    {
        _owner = tree.Owner;
        _mark = _owner.Enter();
        try
        {
            // It may have ended before the transaction was marked.
            tree.ThrowIfClosed(generation);
        }
        catch
        {
            _owner.Leave(_mark);
            throw;
        }
    }

    public void Dispose() => _owner.Leave(_mark);
}
