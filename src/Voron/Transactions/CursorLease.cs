using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Primitives;
using Voron.Trees;
using Voron.Trees.FixedSize;
using Voron.Trees.IdSets;
using Voron.Trees.ValueSets;

namespace Voron.Transactions;

/// <summary>A pooled cursor of an open tree.</summary>
internal sealed class CursorLease(TransactionTree tree, CursorLease.FreeList unused)
{
    private const int Free = 0;
    private const int Opened = 1;
    private const int Closing = 2;

    public TreeCursor Cursor { get; } = new();

    /// <summary>The cursor, when opened over a fixed-size tree.</summary>
    public FixedSizeCursor FixedSize => _fixedSize!;

    /// <summary>The cursor, when opened over a set of ids.</summary>
    public IdTreeCursor Ids => _ids!;

    /// <summary>The cursor, when opened over a tree of value sets.</summary>
    public ValueSetTreeCursor ValueSets => _valueSets!;

    public TransactionTree Tree => tree;

    /// <summary>Increases when the cursor is disposed or its tree's handles end.</summary>
    public long Generation { get; private set; }

    /// <summary>True if the tree no longer tracks the cursor: it must not be opened again, although a thread may still return it.</summary>
    public bool IsForgotten { get; set; }

    private FixedSizeCursor? _fixedSize;

    private IdTreeCursor? _ids;

    private ValueSetTreeCursor? _valueSets;

    // Free, open or closing: when two threads dispose the cursor, only one closes it.
    private int _state;

    // The next one in the list of unused cursors.
    private CursorLease? _nextFree;

    /// <summary>Opens the cursor, which is not in use.</summary>
    public void Open()
    {
        Debug.Assert(Volatile.Read(ref _state) == Free, "A cursor must be closed before it is opened again.");
        var state = tree.SettledState();
        if (state.Kind == TreeKind.FixedSize)
            (_fixedSize ??= new FixedSizeCursor()).Open(state, tree.Owner.Pages);
        else if (state.Kind == TreeKind.ValueSets)
            (_valueSets ??= new ValueSetTreeCursor()).Open(state, tree.LargeSets?.StateAsIs, tree.Owner.Pages, canChange: tree.Owner.Write != null);
        else
            Cursor.Open(state, tree.Owner.Pages, canChange: tree.Owner.Write != null);
        Volatile.Write(ref _state, Opened);
    }

    /// <summary>Opens the cursor over a key's set of ids or values. The caller is inside the transaction.</summary>
    public void OpenSet(ReadOnlySpan<byte> key)
    {
        var state = tree.SettledState();
        if (state.Kind == TreeKind.ValueSets)
            ValueSets.Bind(key);
        else
            (_ids ??= new IdTreeCursor()).Open(state, tree.Owner.Pages, key);
    }

    /// <summary>Closes the cursor, unless its handle has ended.</summary>
    public void Return(long generation)
    {
        if (generation == Generation)
            Return();
    }

    public void Return()
    {
        if (Interlocked.CompareExchange(ref _state, Closing, Opened) != Opened)
            return;
        Generation = HandleGeneration.AfterHandle(Generation);
        Cursor.Close();
        _fixedSize?.Close();
        _ids?.Close();
        _valueSets?.Close();
        Volatile.Write(ref _state, Free);
        unused.Add(this);
    }

    /// <summary>Ends the cursor's handle, together with those of its tree.</summary>
    /// <inheritdoc cref="OpenTree.Close"/>
    public void End(bool isUndone) =>
        Generation = isUndone ? HandleGeneration.AfterHandle(Generation) : HandleGeneration.AfterTransaction(Generation);

    /// <summary>Marks the transaction as being read in. The caller must then call its <see cref="OwningTransaction.Leave"/>.</summary>
    /// <exception cref="ObjectDisposedException">The cursor was disposed, or its transaction has ended.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public OwningTransaction Enter(long generation, out bool mark)
    {
        ThrowIfClosed(generation);
        var owner = tree.Owner;
        mark = owner.Enter();
        if (generation != Generation)
        {
            owner.Leave(mark);
            ThrowClosed(generation);
        }

        return owner;
    }

    /// <summary>Throws when the handle has ended; otherwise brings the tree to the state that the cursor should see.</summary>
    public void ThrowIfClosed(long generation)
    {
        if (generation != Generation)
            ThrowClosed(generation);
        _ = tree.SettledState();
    }

    /// <summary>Describes the position in a fixed-size tree, as <see cref="Describe"/> does.</summary>
    public string? DescribeFixedSize(long generation) => generation == Generation ? _fixedSize?.Describe() : null;

    /// <summary>Describes the position in a set of ids, as <see cref="Describe"/> does.</summary>
    public string? DescribeIds(long generation) => generation == Generation ? _ids?.Describe() : null;

    /// <summary>Describes the position in a tree of value sets, as <see cref="Describe"/> does.</summary>
    public string? DescribeValueSets(long generation) => generation == Generation ? _valueSets?.Describe() : null;

    /// <summary>
    /// Describes the position for a debugger or a log. Neither moves nor throws; null when the handle has ended, because the pages may no longer
    /// exist.
    /// </summary>
    public string? Describe(long generation)
    {
        tree.Owner.BeginDescription();
        try
        {
            return generation == Generation ? Cursor.Describe() : null;
        }
        finally
        {
            tree.Owner.EndDescription();
        }
    }

    [DoesNotReturn]
    private void ThrowClosed(long generation)
    {
        if (HandleGeneration.HasTransactionEnded(generation, Generation))
            EndedErrors.ThrowTransaction();
        EndedErrors.ThrowCursor();
    }

    /// <summary>The unused cursors of a tree. Any thread may return one; only one thread at a time takes one.</summary>
    public sealed class FreeList
    {
        private CursorLease? _first;

        /// <summary>Takes back a cursor that has been closed.</summary>
        public void Add(CursorLease cursor)
        {
            Debug.Assert(Volatile.Read(ref cursor._state) == Free, "A cursor must be closed before it can be taken again.");
            CursorLease? first;
            do
            {
                first = Volatile.Read(ref _first);
                cursor._nextFree = first;
            }
            while (Interlocked.CompareExchange(ref _first, cursor, first) != first);
        }

        /// <summary>Takes a cursor, or null when there is none.</summary>
        /// <remarks>Only one thread at a time takes cursors, so the first one cannot have been taken and returned meanwhile.</remarks>
        public CursorLease? Take()
        {
            var lease = Volatile.Read(ref _first);
            while (lease != null)
            {
                var first = Interlocked.CompareExchange(ref _first, lease._nextFree, lease);
                if (first == lease)
                    break;
                lease = first;
            }

            return lease;
        }
    }
}
