using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>A position in a tree, which can be moved in both directions.</summary>
/// <remarks>
/// A handle: copies refer to the same cursor. In a write transaction it keeps its position while the tree changes. When its entry
/// is deleted, it is on no entry, and the next move goes to the neighbour. After a seek that threw, it has to seek again.
/// </remarks>
public readonly struct Cursor : IDisposable
{
    private readonly CursorLease _lease;
    private readonly long _generation;

    internal Cursor(CursorLease lease, long generation)
    {
        _lease = lease;
        _generation = generation;
    }

    /// <summary>True while the cursor is on an entry.</summary>
    public bool IsOnEntry => Opened.Cursor.IsOnEntry;

    /// <summary>The key of the entry; valid until the cursor moves or the transaction writes.</summary>
    /// <exception cref="InvalidOperationException">The cursor is on no entry, or its entry or its tree has been deleted.</exception>
    public ReadOnlySpan<byte> Key => Opened.Cursor.Key;

    /// <summary>The value of the entry; valid until the transaction ends, or in a write transaction until its next write.</summary>
    /// <exception cref="InvalidOperationException">The cursor is on no entry.</exception>
    public ReadOnlySpan<byte> Value
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => Opened.Cursor.TryGetInlineValue(out var value) ? value : ValueElsewhere();
    }

    /// <summary>The length of the value in bytes, known without reading its pages.</summary>
    public long ValueLength => Opened.Cursor.ValueLength;

    private CursorLease Lease
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var lease = _lease;
            if (lease == null)
                ThrowDefault();
            return lease;
        }
    }

    private CursorLease Opened
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var lease = Lease;
            lease.ThrowIfClosed(_generation);
            return lease;
        }
    }

    /// <summary>Moves to the first entry whose key is at least <paramref name="key"/>; false when there is none.</summary>
    public bool Seek(ReadOnlySpan<byte> key)
    {
        var owner = Lease.Enter(_generation, out var mark);
        try
        {
            return _lease.Cursor.Seek(key);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Moves to the entry with that key; false when the tree does not have it.</summary>
    public bool SeekExact(ReadOnlySpan<byte> key)
    {
        var owner = Lease.Enter(_generation, out var mark);
        try
        {
            return _lease.Cursor.SeekExact(key);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Moves to the last entry whose key is at most <paramref name="key"/>; false when there is none.</summary>
    public bool SeekForPrevious(ReadOnlySpan<byte> key)
    {
        var owner = Lease.Enter(_generation, out var mark);
        try
        {
            return _lease.Cursor.SeekForPrevious(key);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Moves to the first entry; false when the tree is empty.</summary>
    public bool SeekFirst()
    {
        var owner = Lease.Enter(_generation, out var mark);
        try
        {
            return _lease.Cursor.SeekFirst();
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Moves to the last entry; false when the tree is empty.</summary>
    public bool SeekLast()
    {
        var owner = Lease.Enter(_generation, out var mark);
        try
        {
            return _lease.Cursor.SeekLast();
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Moves to the next entry, or to the first when the cursor has no position; false at the end.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext() => Opened.Cursor.TryStepNext() || MoveNextSlowly();

    /// <summary>Moves to the previous entry, or to the last when the cursor has no position; false at the start.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MovePrevious() => Opened.Cursor.TryStepPrevious() || MovePreviousSlowly();

    /// <summary>Deletes the entry that the cursor is on; the next move goes to its neighbour.</summary>
    /// <exception cref="InvalidOperationException">The transaction is a read transaction, or the cursor is on no entry.</exception>
    public bool Delete()
    {
        var lease = Opened;
        if (lease.Tree.Owner.Write is not { } write)
            throw new InvalidOperationException("The cursor belongs to a read transaction and cannot delete an entry.");
        write.ThrowIfBroken();
        try
        {
            return TreeWriter.DeleteCurrent(write.Pages, lease.Cursor);
        }
        catch (Exception e) when (e is not InvalidOperationException && write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Closes the cursor. Further calls of this method do nothing.</summary>
    public void Dispose()
    {
        if (_lease != null && _lease.Generation == _generation)
            _lease.Return();
    }

    // Calls that read other pages mark the transaction as being read in. A step within a page does not, because marking would cost as
    // much as the step.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> ValueElsewhere()
    {
        var owner = Lease.Enter(_generation, out var mark);
        try
        {
            return _lease.Cursor.Value;
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MoveNextSlowly()
    {
        var owner = Lease.Enter(_generation, out var mark);
        try
        {
            return _lease.Cursor.MoveNext();
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MovePreviousSlowly()
    {
        var owner = Lease.Enter(_generation, out var mark);
        try
        {
            return _lease.Cursor.MovePrevious();
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    [DoesNotReturn]
    private static void ThrowDefault() => throw new InvalidOperationException("This cursor was never opened.");
}
