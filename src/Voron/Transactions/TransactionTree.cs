using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Primitives;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron.Transactions;

/// <summary>An open tree of a transaction, as its cursors see it: the transaction, and the state of the tree.</summary>
internal abstract class TransactionTree : ITreeChangeListener, IRecordedTree
{
    private readonly TreeState _state;

    /// <param name="owner">The transaction.</param>
    /// <param name="canChange">True if the tree is notified before each change, so that savepoints can keep its state.</param>
    protected TransactionTree(OwningTransaction owner, bool canChange)
    {
        Owner = owner;
        _state = new TreeState(owner.KeyHeads, canChange ? this : null) { Packer = canChange ? owner.Write!.Packer : null };
    }

    /// <summary>Work to be done before the state can be used.</summary>
    [Flags]
    protected enum Work : byte
    {
        None = 0,
        WaitingPuts = 1,
        Dropped = 2,
        Savepoint = 4,
    }

    public OwningTransaction Owner { get; }

    /// <summary>The name in the catalog.</summary>
    public abstract ReadOnlySpan<byte> Name { get; }

    /// <summary>How the changes of the tree are recorded; null until one is.</summary>
    public RecordedSource? Recorded { get; set; }

    /// <summary>The companion of a tree of value sets, which was opened with it; null in other trees, and if the catalog has none.</summary>
    public TransactionTree? LargeSets { get; set; }

    /// <summary>Increases when the tree's handles end.</summary>
    public long Generation { get; protected set; }

    /// <summary>True after the tree was deleted in this transaction.</summary>
    public bool IsDropped
    {
        get => (Pending & Work.Dropped) != 0;
        set => Pending = value ? Pending | Work.Dropped : Pending & ~Work.Dropped;
    }

    /// <summary>True if the state can be used as it is.</summary>
    public bool IsSettled => Pending == Work.None;

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

    /// <exception cref="ObjectDisposedException">The handles of that generation have ended.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    public void ThrowIfClosed(long generation)
    {
        if (generation != Generation)
            ThrowEnded(generation);
        if (IsDropped)
            ThrowDropped();
    }

    /// <summary>
    /// Describes an entry for a debugger or a log. Throws nothing, and reads only the entry's page; null when the transaction has ended or the
    /// tree has changed, because the page may no longer exist.
    /// </summary>
    /// <param name="generation">The generation of the handles when the entry was read.</param>
    /// <param name="changes">The number of changes of the tree when the entry was read.</param>
    /// <param name="record">The record of the entry.</param>
    public unsafe string? DescribeEntry(long generation, long changes, byte* record)
    {
        Owner.BeginDescription();
        try
        {
            if (generation != Generation || IsDropped || changes != _state.ChangeCount)
                return null;
            var value = LeafPage.Kind(record) == ValueKind.Inline
                ? KeyText.Of(new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record)))
                : $"{LeafValue.Length(record)} bytes";
            return $"{KeyText.Of(LeafPage.Key(record))} = {value}";
        }
        finally
        {
            Owner.EndDescription();
        }
    }

    /// <summary>Saves the state of the tree if a savepoint needs it and has not saved it.</summary>
    public abstract void BeforeChange();

    /// <summary>Does the pending work, or throws because the tree has been deleted.</summary>
    protected abstract void Settle();

    /// <summary>Throws because the tree has been deleted.</summary>
    [DoesNotReturn]
    protected abstract void ThrowDropped();

    [DoesNotReturn]
    private void ThrowEnded(long generation)
    {
        if (HandleGeneration.HasTransactionEnded(generation, Generation))
            EndedErrors.ThrowTransaction();
        EndedErrors.ThrowTree();
    }
}
