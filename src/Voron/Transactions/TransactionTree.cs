using System.Runtime.CompilerServices;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>A tree that a transaction has open, as its cursors see it: the transaction, and the state of the tree.</summary>
internal abstract class TransactionTree : ITreeOwner
{
    private readonly TreeState _state;

    /// <param name="owner">The transaction.</param>
    /// <param name="canChange">True if the tree is notified before each change, so that savepoints can keep its state.</param>
    protected TransactionTree(TransactionOwner owner, bool canChange)
    {
        Owner = owner;
        _state = new TreeState(owner.KeyHeads, canChange ? this : null);
    }

    /// <summary>Work to be done before the state can be used.</summary>
    [Flags]
    protected enum Work : byte
    {
        None = 0,
        Puts = 1,
        Dropped = 2,
    }

    public TransactionOwner Owner { get; }

    /// <summary>Applies all waiting puts and returns the state of the tree. Applying them may fail, as the puts themselves would have.</summary>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public TreeState SettledState()
    {
        if (Pending != Work.None)
            Settle();
        return _state;
    }

    /// <summary>The tree without the waiting puts, available even if it has been deleted.</summary>
    public TreeState StateAsIs => _state;

    /// <summary>The work that must be done before the state can be used.</summary>
    protected Work Pending { get; set; }

    /// <summary>Saves the state of the tree if a savepoint needs it and does not have it.</summary>
    public abstract void BeforeChange();

    /// <summary>Does the pending work, or throws because the tree has been deleted.</summary>
    protected abstract void Settle();
}
