using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Transactions;

namespace Voron;

/// <summary>A position in a fixed-size tree, which can be moved in both directions.</summary>
/// <remarks>
/// A handle: copies refer to the same cursor. In a write transaction, it keeps its position while the tree changes. When its entry is deleted, the
/// cursor keeps its place without being on an entry, and the next move reaches a neighbour, as with a <see cref="Cursor"/>. After a seek has thrown,
/// it must seek again before it can move.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct FixedCursor : IDisposable
{
    private readonly CursorHandle _handle;

    internal FixedCursor(CursorLease lease, long generation) => _handle = new CursorHandle(lease, generation);

    /// <summary>True while the cursor is on an entry.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool IsOnEntry
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.FixedSize.IsOnEntry;
        }
    }

    /// <summary>The key of the entry.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The cursor is not on an entry, or its entry or its tree has been deleted.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public long Key
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _handle.Opened.FixedSize.Key;
    }

    /// <summary>The value of the entry; valid until the transaction ends, or in a write transaction until its next write.</summary>
    /// <inheritdoc cref="Key"/>
    public ReadOnlySpan<byte> Value
    {
        [UnscopedRef]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => _handle.Opened.FixedSize.Value;
    }

    /// <summary>Returns the value of the entry as a type, without copying it; valid as long as <see cref="Value"/>.</summary>
    /// <typeparam name="T">A type without references, of the size of the values.</typeparam>
    /// <exception cref="InvalidOperationException">
    /// The cursor is not on an entry, its entry or its tree has been deleted, or the value size of the tree differs from that of the type.
    /// </exception>
    /// <exception cref="PlatformNotSupportedException">The processor is big-endian, but the bytes of values are little-endian.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    [UnscopedRef]
    public ref readonly T ValueAs<T>()
        where T : unmanaged
    {
        var value = Value;
        if (value.Length != FixedTreeAccess.SizeOf<T>())
            throw new InvalidOperationException($"The value has {value.Length} bytes, but a {typeof(T)} has {FixedTreeAccess.SizeOf<T>()}.");
        return ref FixedTreeAccess.AsReference<T>(value);
    }

    /// <summary>Moves to the first entry whose key is at least <paramref name="key"/>; false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor must seek before it moves again.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool Seek(long key)
    {
        using var call = _handle.Read();
        return _handle.Lease.FixedSize.Seek(key);
    }

    /// <summary>
    /// Moves to the entry of the key; false when the tree does not contain it. The cursor is then on the next entry, if there is one.
    /// </summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekExact(long key)
    {
        using var call = _handle.Read();
        return _handle.Lease.FixedSize.SeekExact(key);
    }

    /// <summary>Moves to the last entry whose key is at most <paramref name="key"/>; false when there is none.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekForPrevious(long key)
    {
        using var call = _handle.Read();
        return _handle.Lease.FixedSize.SeekForPrevious(key);
    }

    /// <summary>Moves to the first entry; false when the tree is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekFirst()
    {
        using var call = _handle.Read();
        return _handle.Lease.FixedSize.SeekFirst();
    }

    /// <summary>Moves to the last entry; false when the tree is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekLast()
    {
        using var call = _handle.Read();
        return _handle.Lease.FixedSize.SeekLast();
    }

    /// <summary>
    /// Moves to the next entry, or to the first when the cursor has no position; false at the end. If the entry has been deleted, the next one is the
    /// first with a greater key.
    /// </summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor stays at the entry that it was about to leave.</exception>
    /// <exception cref="InvalidOperationException">The last seek failed, or the tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext() => _handle.Opened.FixedSize.TryStepNext() || MoveSlowly(1);

    /// <summary>
    /// Moves to the previous entry, or to the last when the cursor has no position; false at the start. If the entry has been deleted, the previous
    /// one is the last with a lesser key.
    /// </summary>
    /// <inheritdoc cref="MoveNext"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MovePrevious() => _handle.Opened.FixedSize.TryStepPrevious() || MoveSlowly(-1);

    /// <summary>Deletes the entry that the cursor is on. Afterwards, the cursor is not on an entry until it moves to a neighbour.</summary>
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
        if (lease.Tree.Owner.Write is not { } write)
            throw new InvalidOperationException("The cursor belongs to a read transaction and cannot delete an entry.");
        write.ThrowIfBroken();
        try
        {
            return lease.FixedSize.Delete(write.Pages);
        }
        catch (Exception e) when (e is not InvalidOperationException && write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Closes the cursor. Further calls do nothing.</summary>
    public void Dispose() => _handle.Dispose();

    /// <summary>Describes the cursor by its place. Any thread may call this at any time.</summary>
    public override string ToString() => _handle.Describe("cursor", static (lease, generation) => lease.DescribeFixedSize(generation));

    // A step within a page does not mark the transaction as in use, because marking would cost as much as the step.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MoveSlowly(int step)
    {
        using var call = _handle.Read();
        return step > 0 ? _handle.Lease.FixedSize.MoveNext() : _handle.Lease.FixedSize.MovePrevious();
    }
}
