using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Transactions;
using Voron.Trees.IdSets;

namespace Voron;

/// <summary>A position on a key of an <see cref="IdTree"/>, which can be moved in both directions.</summary>
/// <remarks>
/// A handle: copies refer to the same cursor. In a write transaction, it keeps its position while the tree changes. When its key is deleted, the
/// cursor keeps its place without being on a key, and the next move reaches a neighbour, as with a <see cref="Cursor"/>.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct IdKeyCursor : IDisposable
{
    private readonly CursorHandle _handle;

    internal IdKeyCursor(CursorLease lease, long generation) => _handle = new CursorHandle(lease, generation);

    /// <summary>True while the cursor is on a key.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool IsOnKey
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.Cursor.IsOnEntry;
        }
    }

    /// <summary>The key; valid until the cursor moves or the transaction writes.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The cursor is not on a key, or its key or its tree has been deleted.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public ReadOnlySpan<byte> Key
    {
        [UnscopedRef]
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.Cursor.Key;
        }
    }

    /// <summary>The number of ids of the key.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not on a key, or its key or its tree has been deleted.</exception>
    /// <exception cref="CorruptionException">A page is damaged, or the key has a value instead of a set.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public long Count
    {
        get
        {
            using var call = _handle.Read();
            return IdTreeReader.CountOf(_handle.Lease.Cursor);
        }
    }

    /// <summary>Moves to the first key that is at least <paramref name="key"/>; false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor must seek before it moves again.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool Seek(ReadOnlySpan<byte> key)
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.Seek(key);
    }

    /// <summary>Moves to the key; false when the tree does not contain it. The cursor is then on the next key, if there is one.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekExact(ReadOnlySpan<byte> key)
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.SeekExact(key);
    }

    /// <summary>Moves to the last key that is at most <paramref name="key"/>; false when there is none.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekForPrevious(ReadOnlySpan<byte> key)
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.SeekForPrevious(key);
    }

    /// <summary>Moves to the first key; false when the tree is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekFirst()
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.SeekFirst();
    }

    /// <summary>Moves to the last key; false when the tree is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekLast()
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.SeekLast();
    }

    /// <summary>
    /// Moves to the next key, or to the first when the cursor has no position; false at the end. If the key has been deleted, the next one is the
    /// first that is greater.
    /// </summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The last seek failed, or the tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool MoveNext()
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.MoveNext();
    }

    /// <summary>
    /// Moves to the previous key, or to the last when the cursor has no position; false at the start. If the key has been deleted, the previous one
    /// is the last that is less.
    /// </summary>
    /// <inheritdoc cref="MoveNext"/>
    public bool MovePrevious()
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.MovePrevious();
    }

    /// <summary>Returns a cursor over the ids of the key. It stays valid when this cursor moves to another key.</summary>
    /// <exception cref="InvalidOperationException">The cursor is not on a key, or its key or its tree has been deleted.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public IdCursor OpenIds() => new(LeaseIds(out var lease), lease);

    /// <summary>Returns a query for the ids of the key. It stays valid when this cursor moves to another key.</summary>
    /// <inheritdoc cref="OpenIds"/>
    public IdQuery Query() => new(LeaseIds(out var lease), lease);

    /// <summary>Closes the cursor. Further calls do nothing.</summary>
    public void Dispose() => _handle.Dispose();

    /// <summary>Describes the cursor by its place. Any thread may call this at any time.</summary>
    public override string ToString() => _handle.Describe("key cursor", static (lease, generation) => lease.Describe(generation));

    private CursorLease LeaseIds(out long leaseGeneration)
    {
        // The generation is read before the key, and reading the key throws if the transaction has ended, so the tree is that of this cursor.
        var tree = (OpenTree)_handle.Opened.Tree;
        var generation = tree.Generation;
        return tree.OpenSet(generation, Key, out leaseGeneration);
    }
}
