using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>A pooled cursor of an open tree.</summary>
internal sealed class CursorLease(OpenTree tree)
{
    private const int Free = 0;
    private const int Opened = 1;
    private const int Closing = 2;

    public TreeCursor Cursor { get; } = new();

    public OpenTree Tree => tree;

    /// <summary>Increases when the cursor is disposed or its tree's handles end.</summary>
    public long Generation { get; set; }

    // Free, open or closing: when two threads dispose the cursor, only one closes it.
    private int _state;

    /// <summary>The next one in the list of unused cursors.</summary>
    public CursorLease? NextFree { get; set; }

    /// <summary>Opens the cursor, which is not in use.</summary>
    public void Open()
    {
        Cursor.Open(tree.State, tree.Owner.Pages, canChange: tree.Owner is WriteTransactionBody);
        Volatile.Write(ref _state, Opened);
    }

    public void Return()
    {
        if (Interlocked.CompareExchange(ref _state, Closing, Opened) != Opened)
            return;
        Generation++;
        Cursor.Close();
        Volatile.Write(ref _state, Free);
        tree.ReturnCursor(this);
    }

    /// <summary>Marks the transaction as being read in. The caller must then call its <see cref="TransactionBody.Leave"/>.</summary>
    /// <exception cref="ObjectDisposedException">The cursor was disposed, or its transaction has ended.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public TransactionBody Enter(long generation, out bool mark)
    {
        ThrowIfClosed(generation);
        var owner = tree.Owner;
        mark = owner.Enter();
        if (generation != Generation)
        {
            owner.Leave(mark);
            ThrowClosed();
        }

        return owner;
    }

    /// <summary>Throws when the handle has ended; otherwise brings the tree to the state that the cursor should see.</summary>
    public void ThrowIfClosed(long generation)
    {
        if (generation != Generation)
            ThrowClosed();
        _ = tree.State;
    }

    [DoesNotReturn]
    private static void ThrowClosed() => throw new ObjectDisposedException("cursor", "The cursor was disposed, or its transaction has ended.");
}
