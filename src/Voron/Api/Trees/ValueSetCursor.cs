using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Transactions;

namespace Voron;

/// <summary>A position on a pair of key and value in a <see cref="ValueSetTree"/>, which can be moved in both directions.</summary>
/// <remarks>
/// A handle: copies refer to the same cursor. In a write transaction, it keeps its position while the tree changes. When its value is removed, the
/// cursor keeps its place without being on a value, and the next move reaches a neighbour, as with a <see cref="Cursor"/>. After a call has thrown a
/// <see cref="CorruptionException"/>, it must seek again before it can move.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct ValueSetCursor : IDisposable
{
    private readonly CursorHandle _handle;

    internal ValueSetCursor(CursorLease lease, long generation) => _handle = new CursorHandle(lease, generation);

    /// <summary>True while the cursor is on a pair.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool IsOnValue
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.ValueSets.IsOnPair;
        }
    }

    /// <summary>The key; valid until the cursor moves or the transaction writes.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The cursor is not on a value, or its value or its tree has been removed.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public ReadOnlySpan<byte> Key
    {
        [UnscopedRef]
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.ValueSets.Key;
        }
    }

    /// <summary>The value; valid until the cursor moves or the transaction writes.</summary>
    /// <inheritdoc cref="Key"/>
    public ReadOnlySpan<byte> Value
    {
        [UnscopedRef]
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.ValueSets.Value;
        }
    }

    /// <summary>The number of values of the key.</summary>
    /// <inheritdoc cref="Key"/>
    public long CountOfKey
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.ValueSets.CountOfKey;
        }
    }

    /// <summary>Moves to the first value of the first key that is at least <paramref name="key"/>; false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor must seek before it moves again.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool Seek(ReadOnlySpan<byte> key)
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekKey(key, 1);
    }

    /// <summary>Moves to the first pair that is at least the given one, by key and then by value; false when there is none.</summary>
    /// <inheritdoc cref="Seek(ReadOnlySpan{byte})"/>
    public bool Seek(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.Seek(key, value, 1, out _);
    }

    /// <summary>Moves to the pair; false when the tree does not contain it. The cursor is then on the next pair, if there is one.</summary>
    /// <inheritdoc cref="Seek(ReadOnlySpan{byte})"/>
    public bool SeekExact(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.Seek(key, value, 1, out var exact) && exact;
    }

    /// <summary>Moves to the last value of the last key that is at most <paramref name="key"/>; false when there is none.</summary>
    /// <inheritdoc cref="Seek(ReadOnlySpan{byte})"/>
    public bool SeekForPrevious(ReadOnlySpan<byte> key)
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekKey(key, -1);
    }

    /// <summary>Moves to the last pair that is at most the given one, by key and then by value; false when there is none.</summary>
    /// <inheritdoc cref="Seek(ReadOnlySpan{byte})"/>
    public bool SeekForPrevious(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.Seek(key, value, -1, out _);
    }

    /// <summary>Moves to the first value of the first key; false when the tree is empty.</summary>
    /// <inheritdoc cref="Seek(ReadOnlySpan{byte})"/>
    public bool SeekFirst()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekFirst();
    }

    /// <summary>Moves to the last value of the last key; false when the tree is empty.</summary>
    /// <inheritdoc cref="Seek(ReadOnlySpan{byte})"/>
    public bool SeekLast()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.SeekLast();
    }

    /// <summary>
    /// Moves to the next value of the key, to the first value of the next key, or to the first pair when the cursor has no position; false at the
    /// end. If the pair has been removed, the next one is the first that is greater.
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
    /// Moves to the previous value of the key, to the last value of the previous key, or to the last pair when the cursor has no position; false at
    /// the start. If the pair has been removed, the previous one is the last that is less.
    /// </summary>
    /// <inheritdoc cref="MoveNext"/>
    public bool MovePrevious()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.Move(-1);
    }

    /// <summary>Moves to the first value of the next key, or to the first pair when the cursor has no position; false at the end.</summary>
    /// <inheritdoc cref="MoveNext"/>
    public bool MoveToNextKey()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.MoveKey(1);
    }

    /// <summary>Moves to the last value of the previous key, or to the last pair when the cursor has no position; false at the start.</summary>
    /// <inheritdoc cref="MoveNext"/>
    public bool MoveToPreviousKey()
    {
        using var call = _handle.Read();
        return _handle.Lease.ValueSets.MoveKey(-1);
    }

    /// <summary>Closes the cursor. Further calls do nothing.</summary>
    public void Dispose() => _handle.Dispose();

    /// <summary>Describes the cursor by its place. Any thread may call this at any time.</summary>
    public override string ToString() => _handle.Describe("value set cursor", static (lease, generation) => lease.DescribeValueSets(generation));
}
