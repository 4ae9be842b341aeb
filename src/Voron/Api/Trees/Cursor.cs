using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Transactions;

namespace Voron;

/// <summary>A position in a tree, which can be moved in both directions.</summary>
/// <remarks>
/// <para>
/// A handle: copies refer to the same cursor. In a write transaction, it keeps its position while the tree changes. After a seek has thrown, it must
/// seek again before it can move.
/// </para>
/// <para>
/// When its entry is deleted, through the cursor or the tree, the cursor keeps its place without being on an entry: <see cref="MoveNext"/> moves to
/// the entry after the deleted one, and <see cref="MovePrevious"/> to the entry before it. A loop therefore moves in the same way whether or not it
/// has deleted the entry, and visits each entry exactly once:
/// </para>
/// <code>
/// for (var found = cursor.SeekFirst(); found; found = cursor.MoveNext())
/// {
///     if (IsExpired(cursor.Value))
///         cursor.Delete();
/// }
/// </code>
/// <para>An entry inserted during the loop is visited if the cursor has yet to pass its place.</para>
/// </remarks>
public readonly partial struct Cursor : IDisposable
{
    private readonly CursorHandle _handle;

    internal Cursor(CursorLease lease, long generation) => _handle = new CursorHandle(lease, generation);

    /// <summary>True while the cursor is on an entry.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool IsOnEntry => _handle.Opened.Cursor.IsOnEntry;

    /// <summary>The key of the entry; valid until the cursor moves or the transaction writes.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The cursor is not on an entry, or its entry or its tree has been deleted.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public ReadOnlySpan<byte> Key
    {
        [UnscopedRef]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _handle.Opened.Cursor.Key;
    }

    /// <summary>The value of the entry; valid until the transaction ends, or in a write transaction until its next write.</summary>
    /// <remarks>A compressed value is decompressed into memory of the cursor, and is valid until the cursor moves or is disposed.</remarks>
    /// <inheritdoc cref="Key"/>
    public ReadOnlySpan<byte> Value
    {
        [UnscopedRef]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _handle.Opened.Cursor.TryGetInlineValue(out var value) ? value : ValueElsewhere();
    }

    /// <summary>The length of the value in bytes, known without reading its pages.</summary>
    /// <inheritdoc cref="Key"/>
    public long ValueLength => _handle.Opened.Cursor.ValueLength;

    /// <summary>The entry: its key and its value, and copies of them. It may be kept after the next move.</summary>
    /// <inheritdoc cref="Key"/>
    public TreeEntry Entry
    {
        get
        {
            var lease = _handle.Opened;
            lease.Cursor.RequireEntry();
            return TreeEntry.At(lease.Tree, lease.Tree.Generation, lease.Cursor);
        }
    }

    /// <summary>Returns the original and the stored size in bytes of the entry's value if it is compressed; otherwise false.</summary>
    internal bool TryGetPackedLengths(out int plain, out long stored) => _handle.Opened.Cursor.TryGetPackedLengths(out plain, out stored);

    /// <inheritdoc cref="CursorHandle.Read"/>
    internal ReadingCall Read() => _handle.Read();

    /// <summary>Moves to the first entry whose key is at least <paramref name="key"/>; false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor must seek before it moves again.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool Seek(ReadOnlySpan<byte> key)
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.Seek(key);
    }

    /// <summary>
    /// Moves to the entry of the key; false when the tree does not contain it. The cursor is then on the next entry, if there is one.
    /// </summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekExact(ReadOnlySpan<byte> key)
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.SeekExact(key);
    }

    /// <summary>Moves to the last entry whose key is at most <paramref name="key"/>; false when there is none.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekForPrevious(ReadOnlySpan<byte> key)
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.SeekForPrevious(key);
    }

    /// <summary>Moves to the first entry; false when the tree is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekFirst()
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.SeekFirst();
    }

    /// <summary>Moves to the last entry; false when the tree is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekLast()
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.SeekLast();
    }

    /// <summary>
    /// Moves to the next entry, or to the first when the cursor has no position; false at the end. If the entry has been deleted, the next one is the
    /// first with a greater key.
    /// </summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor stays at the entry that it was about to leave.</exception>
    /// <exception cref="InvalidOperationException">The last seek failed, or the tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext() => _handle.Opened.Cursor.TryStepNext() || MoveSlowly(1);

    /// <summary>
    /// Moves to the previous entry, or to the last when the cursor has no position; false at the start. If the entry has been deleted, the previous
    /// one is the last with a lesser key.
    /// </summary>
    /// <inheritdoc cref="MoveNext"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MovePrevious() => _handle.Opened.Cursor.TryStepPrevious() || MoveSlowly(-1);

    /// <summary>
    /// Deletes the entry that the cursor is on. Afterwards, the cursor is not on an entry until <see cref="MoveNext"/> moves to the entry after the
    /// deleted one, or <see cref="MovePrevious"/> to the one before it.
    /// </summary>
    /// <returns>False when the entry had already been deleted, by the cursor or through the tree.</returns>
    /// <exception cref="InvalidOperationException">
    /// The transaction is a read transaction or can only be rolled back, or the cursor has no position.
    /// </exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool Delete()
    {
        var lease = _handle.Opened;
        if (lease.Tree.Owner.Write == null)
            throw new InvalidOperationException("The cursor belongs to a read transaction and cannot delete an entry.");
        return TreeAccess.DeleteCurrent(lease.Tree, lease.Cursor);
    }

    /// <summary>Closes the cursor. Further calls do nothing.</summary>
    public void Dispose() => _handle.Dispose();

    // Calls that read other pages mark the transaction as in use. A step within a page does not, because marking would cost as much as the step.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> ValueElsewhere()
    {
        using var call = _handle.Read();
        return _handle.Lease.Cursor.Value;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MoveSlowly(int step)
    {
        using var call = _handle.Read();
        return step > 0 ? _handle.Lease.Cursor.MoveNext() : _handle.Lease.Cursor.MovePrevious();
    }
}
