using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Transactions;

namespace Voron;

/// <summary>A position in the set of a key of a <see cref="ValueSetTree"/>, which can be moved in both directions.</summary>
/// <remarks>
/// A handle: copies refer to the same cursor. In a write transaction, it keeps its position while the tree changes. When its value is removed, the
/// cursor keeps its place without being on a value, and the next move reaches a neighbour, as with a <see cref="Cursor"/>. After a call has thrown a
/// <see cref="CorruptionException"/>, it must seek again before it can move.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct ValueCursor : IDisposable
{
    private readonly CursorHandle _handle;

    internal ValueCursor(CursorLease lease, long generation) => _handle = new CursorHandle(lease, generation);

    /// <summary>The number of values in the set; 0 while the tree does not contain the key.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public long Count
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.ValueSets.CountOfBound;
        }
    }

    /// <summary>True while the cursor is on a value.</summary>
    /// <inheritdoc cref="Count"/>
    public bool IsOnValue
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.ValueSets.IsOnPair;
        }
    }

    /// <summary>The value; valid until the cursor moves or the transaction writes.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The cursor is not on a value, or its value or its tree has been removed.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public ReadOnlySpan<byte> Value
    {
        [UnscopedRef]
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.ValueSets.Value;
        }
    }

    /// <summary>Moves to the first value that is at least <paramref name="value"/>; false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor must seek before it moves again.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool Seek(ReadOnlySpan<byte> value)
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekBound(value, 1, out _);
    }

    /// <summary>Moves to the value; false when the set does not contain it. The cursor is then on the next value, if there is one.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekExact(ReadOnlySpan<byte> value)
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekBound(value, 1, out var exact) && exact;
    }

    /// <summary>Moves to the last value that is at most <paramref name="value"/>; false when there is none.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekForPrevious(ReadOnlySpan<byte> value)
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekBound(value, -1, out _);
    }

    /// <summary>Moves to the first value; false when the set is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekFirst()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekFirst();
    }

    /// <summary>Moves to the last value; false when the set is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekLast()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekLast();
    }

    /// <summary>
    /// Moves to the next value, or to the first when the cursor has no position; false at the end. If the value has been removed, the next one is the
    /// first that is greater.
    /// </summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor must seek before it moves again.</exception>
    /// <exception cref="InvalidOperationException">The last move failed, or the tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool MoveNext()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.Move(1);
    }

    /// <summary>
    /// Moves to the previous value, or to the last when the cursor has no position; false at the start. If the value has been removed, the previous
    /// one is the last that is less.
    /// </summary>
    /// <inheritdoc cref="MoveNext"/>
    public bool MovePrevious()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.Move(-1);
    }

    /// <summary>Closes the cursor. Further calls do nothing.</summary>
    public void Dispose() => _handle.Dispose();

    /// <summary>Describes the cursor by its place. Any thread may call this at any time.</summary>
    public override string ToString() => _handle.Describe("value cursor", static (lease, generation) => lease.DescribeValueSets(generation));
}
