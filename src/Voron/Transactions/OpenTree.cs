using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Testing;
using Voron.Trees;
using Voron.Trees.Batches;
using Voron.Trees.Kinds;

namespace Voron.Transactions;

/// <summary>A tree that one transaction has opened: its name, its handles and cursors, and its waiting changes.</summary>
internal sealed class OpenTree : TransactionTree, IBufferedTree
{
    /// <summary>The number of cursors that are kept for the next transaction.</summary>
    private const int MaxKeptCursors = 16;

    private readonly SavedTrees? _savedTrees;
    private readonly List<CursorLease> _cursors = [];
    private readonly CursorLease.FreeList _freeCursors = new();
    private byte[] _name = [];
    private PutBuffer? _puts;
    private bool _hasStored;
    private List<IEntryListener>? _listeners;

    /// <param name="owner">The transaction.</param>
    /// <param name="savedTrees">Where the transaction saves the states of trees at its savepoints; null for a reader.</param>
    public OpenTree(OwningTransaction owner, SavedTrees? savedTrees)
        : base(owner, canChange: savedTrees != null) => _savedTrees = savedTrees;

    /// <summary>The index of the tree among the trees of the transaction.</summary>
    public int Index { get; private set; }

    /// <summary>The group-commit operation that last opened the tree; 0 outside of such operations.</summary>
    public long Operation { get; private set; }

    /// <summary>Notes that a group-commit operation has opened the tree: its savepoint is created before the tree is read or changed.</summary>
    public void BeginOperation(long operation)
    {
        Operation = operation;
        Pending |= Work.Savepoint;
    }

    /// <summary>Notes that the operation has ended.</summary>
    public void EndOperation() => Pending &= ~Work.Savepoint;

    /// <summary>The stamp of the innermost savepoint for which the state of the tree has been saved.</summary>
    public int SavedStamp { get; set; }

    /// <summary>True while puts are waiting to be applied.</summary>
    public bool HasWaitingPuts => (Pending & Work.WaitingPuts) != 0;

    public override ReadOnlySpan<byte> Name => _name;

    /// <summary>The name as an array that never changes, to be restored by <see cref="SetName(byte[])"/>.</summary>
    public byte[] NameBytes => _name;

    /// <summary>Used by <see cref="OpenTreeNames"/>.</summary>
    public int NameHash { get; set; }

    /// <inheritdoc cref="NameHash"/>
    public OpenTree? NextWithHash { get; set; }

    /// <summary>An object that a layer above has built on this one, which keeps it even as another tree in the next transaction.</summary>
    public object? LayerObject { get; set; }

    public void Open(ReadOnlySpan<byte> name, in TreeHeader header, int index)
    {
        // A rollback to a savepoint closes trees, but they keep their buffers, which are then empty.
        Debug.Assert(!HasWaitingPuts && (_puts?.Count ?? 0) == 0, "A tree must be opened without waiting puts.");
        SetName(name);
        Index = index;
        SavedStamp = _savedTrees?.Stamp ?? 0;
        Operation = 0;
        Pending = Work.None;
        _hasStored = false;
        _listeners = null;
        Recorded?.Forget();
        LargeSets = null;
        StateAsIs.Load(header);
    }

    /// <summary>Starts notifying a listener of added and removed entries.</summary>
    public void Listen(IEntryListener listener) => (_listeners ??= []).Add(listener);

    /// <summary>Stops notifying a listener.</summary>
    public void StopListening(IEntryListener listener)
    {
        if (_listeners?.Remove(listener) == true && _listeners.Count == 0)
            _listeners = null;
    }

    /// <summary>Notifies the listeners that an entry was added or removed. Called by a layer above, which knows the entries.</summary>
    /// <inheritdoc cref="IEntryListener.Note"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void NoteEntry(ReadOnlySpan<byte> key, long id, bool wasThere)
    {
        if (_listeners != null)
            Notify(key, id, wasThere);
    }

    private void Notify(ReadOnlySpan<byte> key, long id, bool wasThere)
    {
        foreach (var listener in _listeners!)
            listener.Note(key, id, wasThere);
    }

    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public void ThrowUnless(TreeKind kind)
    {
        if (StateAsIs.Kind != kind)
            throw TreeKinds.Mismatch(Name, StateAsIs.Kind, kind, Owner.Pages.FilePath);
    }

    /// <summary>
    /// Defers a put, to be applied together with others. False if it must be applied immediately, because it is large, or because keys are being
    /// appended, which needs no search for the leaf; the first put to this tree in a transaction shows whether they are. Set changes always
    /// wait: many of them may belong to one set, and appended keys belong to new sets, to which more ids may be added.
    /// </summary>
    public bool TryDefer(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, WaitingOperation operation = WaitingOperation.Put)
    {
        var isOfSet = operation is WaitingOperation.AddId or WaitingOperation.RemoveId;
        if (!PutBuffer.CanHold(key.Length, value.Length) || (!HasWaitingPuts && !isOfSet && (!StateAsIs.RightmostLeaf.IsNone || !_hasStored)))
        {
            _hasStored = true;
            return false;
        }

        Owner.Write!.AssertWriterHeld();
        _puts ??= Owner.Write!.Buffers.Rent(this);
        if (!_puts.TryAdd(key, value, operation))
            AddAfterOthers(key, value, operation);
        Pending |= Work.WaitingPuts;
        return true;
    }

    // Key and value may be spans of the tree's pages, which the waiting puts change.
    [SkipLocalsInit]
    [MethodImpl(MethodImplOptions.NoInlining)]
    private void AddAfterOthers(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, WaitingOperation operation)
    {
        Span<byte> copy = stackalloc byte[key.Length + value.Length];
        key.CopyTo(copy);
        value.CopyTo(copy[key.Length..]);
        ApplyPuts();
        var isAdded = _puts!.TryAdd(copy[..key.Length], copy[key.Length..], operation);
        Debug.Assert(isAdded, "A buffer whose puts were applied must have room for another put.");
    }

    /// <summary>Applies the waiting puts.</summary>
    public void ApplyPuts()
    {
        if (!HasWaitingPuts)
            return;
        var write = Owner.Write!;
        write.AssertWriterHeld();
        write.OperationSavepoint.Ensure();
        if (!HasWaitingPuts)
            return;
        Pending &= ~Work.WaitingPuts;
        try
        {
            _puts!.Apply(write.Pages, StateAsIs, write.Buffers.Room);
        }
        catch (CounterException e)
        {
            throw NoCounter(e);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Breaks the transaction, since an increment cannot be applied. Returns the exception for the call that applied it.</summary>
    public Exception NoCounter(CounterException fault)
    {
        var failure = fault.Describe(
            Catalog.ShownName(Name), "An increment of it failed, so the transaction can only be rolled back, as a whole or to a savepoint.");
        Owner.Write!.Break(failure);
        return failure;
    }

    /// <inheritdoc/>
    public void ApplyMarkedPuts()
    {
        if (!HasWaitingPuts)
            return;
        var write = Owner.Write!;
        write.AssertWriterHeld();
        try
        {
            _puts!.ApplyMarked(write.Pages, StateAsIs);
        }
        catch (CounterException e)
        {
            throw NoCounter(e);
        }
        catch (Exception e) when (write.Break(e))
        {
            throw;
        }
        finally
        {
            NotePuts();
        }
    }

    /// <inheritdoc/>
    public void DiscardUnmarkedPuts()
    {
        if (!HasWaitingPuts)
            return;
        _puts!.DiscardUnmarked();
        NotePuts();
    }

    /// <summary>Discards the puts that have not been applied, because they are being rolled back.</summary>
    public void DiscardPuts()
    {
        if (!HasWaitingPuts)
            return;
        Pending &= ~Work.WaitingPuts;
        _puts!.Clear();
    }

    /// <summary>Takes away the put buffer, which may belong to another tree from then on.</summary>
    public void TakeBuffer()
    {
        DiscardPuts();
        _puts = null;
    }

    /// <summary>Returns the size of the tree, with the waiting changes.</summary>
    public TreeStatistics GetStatistics()
    {
        var state = SettledState();
        return new TreeStatistics(state.EntryCount, state.Depth, state.LeafPages, state.BranchPages, state.OverflowPages)
        {
            NestedPages = LargeSets?.StateAsIs.ToHeader().Pages ?? state.NestedPages,
        };
    }

    public void SetName(ReadOnlySpan<byte> name)
    {
        if (!name.SequenceEqual(_name))
            _name = name.ToArray();
    }

    public void SetName(byte[] name) => _name = name;

    /// <inheritdoc/>
    public override void BeforeChange()
    {
        if (SavedStamp >= _savedTrees!.Stamp || (PlantedFault.KeepTreeOnce && SavedStamp > 0))
            return;
        _savedTrees.Save(new SavedTree(Index, StateAsIs.ToHeader(), StateAsIs.Changed, IsDropped, _name, SavedStamp));
        SavedStamp = _savedTrees.Stamp;
    }

    /// <summary>Restores a saved state. The transaction, which knows trees by name, restores the name and the deletion.</summary>
    public void Restore(in SavedTree saved)
    {
        StateAsIs.Load(saved.Header);
        StateAsIs.Changed = saved.Changed;
        SavedStamp = saved.EarlierStamp;
    }

    /// <summary>Ends all handles of the tree and of its cursors.</summary>
    /// <param name="isUndone">
    /// True if the opening of the tree is undone by a rollback to a savepoint; false if the transaction ends, or the operation of a group commit.
    /// </param>
    public void Close(bool isUndone)
    {
        DiscardPuts();
        EndHandles(isUndone);
        NextWithHash = null;
    }

    /// <summary>Ends all handles of the tree and of its cursors, but keeps the tree open for others.</summary>
    /// <inheritdoc cref="Close"/>
    public void EndHandles(bool isUndone)
    {
        CloseHandles(isUndone);
        foreach (var cursor in _cursors)
            cursor.Return();
    }

    /// <summary>Keeps a few of the cursors for the next transaction. The handles have ended.</summary>
    public void TrimCursors()
    {
        if (_cursors.Count <= MaxKeptCursors)
            return;
        foreach (var cursor in CollectionsMarshal.AsSpan(_cursors)[MaxKeptCursors..])
            cursor.IsForgotten = true;
        _cursors.RemoveRange(MaxKeptCursors, _cursors.Count - MaxKeptCursors);
        _cursors.TrimExcess();

        // Another thread may be about to return a cursor that it disposes, and adds that one to the list itself.
        var kept = new List<CursorLease>(MaxKeptCursors);
        while (_freeCursors.Take() is { } cursor)
        {
            if (!cursor.IsForgotten)
                kept.Add(cursor);
        }

        kept.ForEach(_freeCursors.Add);
    }

    /// <summary>Ends the handles; a call that is already under way through one of them continues.</summary>
    /// <inheritdoc cref="Close"/>
    public void CloseHandles(bool isUndone)
    {
        Generation = isUndone ? HandleGeneration.AfterHandle(Generation) : HandleGeneration.AfterTransaction(Generation);
        foreach (var cursor in _cursors)
            cursor.End(isUndone);
    }

    /// <summary>Opens a cursor that is not in use.</summary>
    /// <param name="generation">The generation of the tree's handle.</param>
    /// <param name="leaseGeneration">The generation for the cursor's handle, read while the transaction cannot end.</param>
    /// <exception cref="ObjectDisposedException">The tree's handles have ended.</exception>
    /// <exception cref="InvalidOperationException">Another thread is inside the transaction.</exception>
    public CursorLease OpenCursor(long generation, out long leaseGeneration)
    {
        var mark = Owner.EnterAlone();
        try
        {
            ThrowIfClosed(generation);
            var lease = RentCursor();
            leaseGeneration = lease.Generation;
            return lease;
        }
        finally
        {
            Owner.LeaveAlone(mark);
        }
    }

    /// <summary>Opens a cursor over a key's set, which need not exist, in a tree of id sets or value sets.</summary>
    /// <inheritdoc cref="OpenCursor"/>
    public CursorLease OpenSet(long generation, ReadOnlySpan<byte> key, out long leaseGeneration)
    {
        var lease = OpenCursor(generation, out leaseGeneration);
        try
        {
            var owner = lease.Enter(leaseGeneration, out var mark);
            try
            {
                lease.OpenSet(key);
            }
            finally
            {
                owner.Leave(mark);
            }
        }
        catch
        {
            // If the transaction has ended meanwhile, another one may have opened the same cursor.
            lease.Return(leaseGeneration);
            throw;
        }

        return lease;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    protected override void Settle()
    {
        if (IsDropped && !PlantedFault.MoveInDeletedTree)
            ThrowDropped();
        if ((Pending & Work.Savepoint) != 0)
        {
            Owner.Write!.OperationSavepoint.Ensure();
            Pending &= ~Work.Savepoint;
        }

        ApplyPuts();
    }

    private void NotePuts()
    {
        if (_puts!.Count == 0)
            Pending &= ~Work.WaitingPuts;
    }

    private CursorLease RentCursor()
    {
        var lease = _freeCursors.Take();
        while (lease is { IsForgotten: true })
            lease = _freeCursors.Take();
        if (lease == null)
        {
            lease = new CursorLease(this, _freeCursors);
            _cursors.Add(lease);
        }

        try
        {
            lease.Open();
        }
        catch
        {
            _freeCursors.Add(lease);
            throw;
        }

        return lease;
    }

    [DoesNotReturn]
    protected override void ThrowDropped() =>
        throw new InvalidOperationException($"The {Catalog.Describe(Name)} has been deleted in this transaction.");
}
