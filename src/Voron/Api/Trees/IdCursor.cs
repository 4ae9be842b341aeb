using System.Diagnostics;
using System.Runtime.CompilerServices;
using Voron.Transactions;

namespace Voron;

/// <summary>A position in the set of a key of an <see cref="IdTree"/>, which can be moved in both directions.</summary>
/// <remarks>
/// A handle: copies refer to the same cursor. In a write transaction, it keeps its position while the tree changes. When its id is removed, the
/// cursor keeps its place without being on an id, and the next move reaches a neighbour, as with a <see cref="Cursor"/>. After a seek has thrown, it
/// must seek again before it can move.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct IdCursor : IDisposable
{
    private readonly CursorHandle _handle;

    internal IdCursor(CursorLease lease, long generation) => _handle = new CursorHandle(lease, generation);

    /// <summary>The number of ids in the set; 0 while the tree does not contain the key.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public long Count
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.Ids.Count;
        }
    }

    /// <summary>True while the cursor is on an id.</summary>
    /// <inheritdoc cref="Count"/>
    public bool IsOnId
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.Ids.IsOnId;
        }
    }

    /// <summary>The id.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The cursor is not on an id, or its id or its tree has been removed.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public long Id
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.Ids.Id;
        }
    }

    /// <summary>The payload of the id.</summary>
    /// <inheritdoc cref="Id"/>
    public byte Payload
    {
        get
        {
            using var call = _handle.Read();
            return _handle.Lease.Ids.Payload;
        }
    }

    /// <summary>Moves to the first id that is at least <paramref name="id"/>; false when there is none.</summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor must seek before it moves again.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public bool Seek(long id)
    {
        using var call = _handle.Read();
        return _handle.Lease.Ids.Seek(id);
    }

    /// <summary>Moves to the last id that is at most <paramref name="id"/>; false when there is none.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekForPrevious(long id)
    {
        using var call = _handle.Read();
        return _handle.Lease.Ids.SeekForPrevious(id);
    }

    /// <summary>Moves to the first id; false when the set is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekFirst()
    {
        using var call = _handle.Read();
        return _handle.Lease.Ids.SeekFirst();
    }

    /// <summary>Moves to the last id; false when the set is empty.</summary>
    /// <inheritdoc cref="Seek"/>
    public bool SeekLast()
    {
        using var call = _handle.Read();
        return _handle.Lease.Ids.SeekLast();
    }

    /// <summary>
    /// Moves to the next id, or to the first when the cursor has no position; false at the end. If the id has been removed, the next one is the first
    /// that is greater.
    /// </summary>
    /// <exception cref="CorruptionException">A page is damaged. The cursor stays at the id that it was about to leave.</exception>
    /// <exception cref="InvalidOperationException">The last seek failed, or the tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MoveNext() => _handle.Opened.Ids.TryStepNext() || MoveSlowly(1);

    /// <summary>
    /// Moves to the previous id, or to the last when the cursor has no position; false at the start. If the id has been removed, the previous one is
    /// the last that is less.
    /// </summary>
    /// <inheritdoc cref="MoveNext"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool MovePrevious() => _handle.Opened.Ids.TryStepPrevious() || MoveSlowly(-1);

    /// <summary>
    /// Copies the next ids. Directly after a seek that has found an id, the first id copied is that one. Afterwards, the cursor is on the last id
    /// copied, or past the end if there were fewer than requested. Much faster than single steps.
    /// </summary>
    /// <param name="ids">Receives the ids.</param>
    /// <returns>The number of ids; 0 at the end of the set.</returns>
    /// <exception cref="CorruptionException">A page is damaged. The cursor is where it was, whatever has been copied.</exception>
    /// <exception cref="InvalidOperationException">The last seek failed, or the tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public int Fill(Span<long> ids) => Fill(ids, default);

    /// <summary>Copies the next ids and their payloads, as <see cref="Fill(Span{long})"/> does.</summary>
    /// <param name="ids">Receives the ids.</param>
    /// <param name="payloads">Receives their payloads; empty if they are not needed.</param>
    /// <returns>The number of ids; 0 at the end of the set.</returns>
    /// <exception cref="ArgumentException">The span for payloads is not empty, but shorter than the one for ids.</exception>
    /// <exception cref="CorruptionException">A page is damaged. The cursor is where it was, whatever has been copied.</exception>
    /// <exception cref="InvalidOperationException">The last seek failed, or the tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The cursor has been disposed, or its transaction has ended.</exception>
    public int Fill(Span<long> ids, Span<byte> payloads)
    {
        if (!payloads.IsEmpty && payloads.Length < ids.Length)
            throw new ArgumentException($"There is room for {ids.Length} ids, but only for {payloads.Length} payloads.", nameof(payloads));
        using var call = _handle.Read();
        return _handle.Lease.Ids.Fill(ids, payloads);
    }

    /// <summary>Closes the cursor. Further calls do nothing.</summary>
    public void Dispose() => _handle.Dispose();

    /// <summary>Describes the cursor by its place. Any thread may call this at any time.</summary>
    public override string ToString() => _handle.Describe("id cursor", static (lease, generation) => lease.DescribeIds(generation));

    // A step within a block does not mark the transaction as in use, because marking would cost more than the step.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private bool MoveSlowly(int step)
    {
        using var call = _handle.Read();
        return step > 0 ? _handle.Lease.Ids.MoveNext() : _handle.Lease.Ids.MovePrevious();
    }
}
