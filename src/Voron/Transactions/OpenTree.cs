using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Primitives;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>A tree that one transaction has opened.</summary>
internal sealed class OpenTree : ITreeOwner
{
    /// <summary>A tree that had more cursors open than this is not kept for the next transaction.</summary>
    private const int MaxKeptCursors = 16;

    private readonly TreeState _state;
    private readonly TreeLog? _log;
    private readonly List<CursorLease> _cursors = [];
    private CursorLease? _freeCursors;
    private byte[] _name = [];
    private PutBuffer? _puts;
    private Pending _pending;
    private bool _hasStored;

    /// <param name="owner">The transaction.</param>
    /// <param name="log">The log in which it keeps the states of trees at its savepoints; null for a reader.</param>
    public OpenTree(TransactionBody owner, TreeLog? log)
    {
        Owner = owner;
        _log = log;
        _state = new TreeState(log == null ? null : this);
    }

    [Flags]
    private enum Pending : byte
    {
        None = 0,
        Puts = 1,
        Dropped = 2,
    }

    public TransactionBody Owner { get; }

    /// <summary>The tree with all waiting puts applied. Applying them may fail, as the puts themselves would have.</summary>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    public TreeState State
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (_pending != Pending.None)
                Settle();
            return _state;
        }
    }

    /// <summary>The tree without the waiting puts, available even if it has been deleted.</summary>
    public TreeState StateAsIs => _state;

    /// <summary>The index of the tree among the trees of the transaction.</summary>
    public int Index { get; private set; }

    /// <summary>Increases when the tree's handles end.</summary>
    public long Generation { get; private set; }

    /// <summary>The group-commit operation that last opened the tree; 0 outside of such operations.</summary>
    public long Operation { get; set; }

    /// <summary>The stamp of the innermost savepoint for which the state of the tree has been saved.</summary>
    public int SavedStamp { get; set; }

    /// <summary>True after the tree was deleted in this transaction.</summary>
    public bool IsDropped
    {
        get => (_pending & Pending.Dropped) != 0;
        set => _pending = value ? _pending | Pending.Dropped : _pending & ~Pending.Dropped;
    }

    /// <summary>True while puts are waiting to be applied.</summary>
    public bool HasPuts => (_pending & Pending.Puts) != 0;

    public ReadOnlySpan<byte> Name => _name;

    /// <summary>The name as an array that never changes, to be restored by <see cref="SetName(byte[])"/>.</summary>
    public byte[] NameBytes => _name;

    /// <summary>Used by <see cref="OpenTreeNames"/>.</summary>
    public int NameHash { get; set; }

    /// <inheritdoc cref="NameHash"/>
    public OpenTree? NextWithHash { get; set; }

    /// <summary>False when this object has grown too large to be kept for another transaction.</summary>
    public bool IsReusable => _cursors.Count <= MaxKeptCursors;

    public void Open(ReadOnlySpan<byte> name, in TreeHeader header, int index)
    {
        SetName(name);
        Index = index;
        SavedStamp = _log?.Stamp ?? 0;
        Operation = 0;
        _pending = Pending.None;
        _hasStored = false;
        _state.Load(header);
    }

    /// <summary>
    /// Defers a put, to be applied together with others. False when it must be made at once, because it is large, or because keys
    /// are being appended, which finds their leaf without a search. The first put of a transaction shows whether they are.
    /// </summary>
    public bool TryDefer(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (!PutBuffer.CanHold(key.Length, value.Length) || (!HasPuts && (!_state.RightmostLeaf.IsNone || !_hasStored)))
        {
            _hasStored = true;
            return false;
        }

        _puts ??= ((WriteTransactionBody)Owner).Buffers.Rent(this);
        if (!_puts.TryAdd(key, value))
        {
            ApplyPuts();
            _puts.TryAdd(key, value);
        }

        _pending |= Pending.Puts;
        return true;
    }

    /// <summary>Applies the waiting puts.</summary>
    public void ApplyPuts()
    {
        if (!HasPuts)
            return;
        _pending &= ~Pending.Puts;
        var body = (WriteTransactionBody)Owner;
        try
        {
            _puts!.Apply(body.WritePages, _state, body.Buffers.MayGrow);
        }
        catch (Exception e) when (body.Break(e))
        {
            throw;
        }
    }

    /// <summary>Discards the puts that have not been applied, because they are being rolled back.</summary>
    public void DiscardPuts()
    {
        if (!HasPuts)
            return;
        _pending &= ~Pending.Puts;
        _puts!.Clear();
    }

    /// <summary>Takes away the buffer for puts, which may belong to another tree from here on.</summary>
    public void TakeBuffer()
    {
        DiscardPuts();
        _puts = null;
    }

    public void SetName(ReadOnlySpan<byte> name)
    {
        if (!name.SequenceEqual(_name))
            _name = name.ToArray();
    }

    public void SetName(byte[] name) => _name = name;

    /// <summary>Saves the state of the tree if a savepoint needs it and does not have it.</summary>
    public void BeforeChange()
    {
        if (SavedStamp < _log!.Stamp && !(PlantedFault.KeepTreeOnce && SavedStamp > 0))
            _log.Save(this);
    }

    /// <summary>Ends all handles of the tree and of its cursors.</summary>
    public void Close()
    {
        DiscardPuts();
        EndHandles();
        NextWithHash = null;
    }

    /// <summary>Ends all handles of the tree and of its cursors, but keeps the tree open for others.</summary>
    public void EndHandles()
    {
        CloseHandles();
        foreach (var cursor in _cursors)
            cursor.Return();
    }

    /// <summary>Ends the handles; a call that is already under way through one of them continues.</summary>
    public void CloseHandles()
    {
        Generation++;
        foreach (var cursor in _cursors)
            cursor.Generation++;
    }

    /// <summary>Opens a cursor that is not in use.</summary>
    /// <exception cref="ObjectDisposedException">The tree's handles have ended.</exception>
    /// <exception cref="InvalidOperationException">Another thread is inside the transaction.</exception>
    public Cursor OpenCursor(long generation)
    {
        var mark = Owner.EnterAlone();
        try
        {
            ThrowIfClosed(generation);
            return new Cursor(RentCursor());
        }
        finally
        {
            Owner.LeaveAlone(mark);
        }
    }

    /// <summary>Takes back a cursor that has been closed. Any thread may call this.</summary>
    public void ReturnCursor(CursorLease cursor)
    {
        CursorLease? first;
        do
        {
            first = Volatile.Read(ref _freeCursors);
            cursor.NextFree = first;
        }
        while (Interlocked.CompareExchange(ref _freeCursors, cursor, first) != first);
    }

    public void ThrowIfClosed(long generation)
    {
        if (generation != Generation)
            ThrowEnded();
        if (IsDropped)
            ThrowDropped();
    }

    // Only one thread at a time takes cursors, so the first one cannot have been taken and returned meanwhile.
    private CursorLease RentCursor()
    {
        var lease = Volatile.Read(ref _freeCursors);
        while (lease != null)
        {
            var first = Interlocked.CompareExchange(ref _freeCursors, lease.NextFree, lease);
            if (first == lease)
                break;
            lease = first;
        }

        if (lease == null)
        {
            lease = new CursorLease(this);
            _cursors.Add(lease);
        }

        try
        {
            lease.Open();
        }
        catch
        {
            ReturnCursor(lease);
            throw;
        }

        return lease;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Settle()
    {
        if (IsDropped && !PlantedFault.MoveInDeletedTree)
            ThrowDropped();
        ApplyPuts();
    }

    [DoesNotReturn]
    private void ThrowDropped() =>
        throw new InvalidOperationException($"The tree '{Catalog.Decode(Name)}' has been deleted in this transaction.");

    [DoesNotReturn]
    private static void ThrowEnded() => throw new ObjectDisposedException(
        "tree",
        "The transaction that this tree was opened in has ended, or was rolled back to before that, or the operation that opened it has returned.");
}
