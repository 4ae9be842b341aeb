using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>What read and write transactions have in common: the trees they have open, and a generation for their handles.</summary>
/// <remarks>
/// Cores are pooled. A handle remembers the generation that it was made for; when the transaction ends the generation moves
/// on, and every handle of it throws from then on.
/// </remarks>
internal abstract class TransactionCore
{
    private readonly List<OpenTree> _trees = [];
    private int _treeCount;
    private int _isBusy;
    private int _sharedInside;
    private bool _isInside;
    private bool _isShared;

    /// <summary>Odd while the transaction is open.</summary>
    public long Generation { get; private set; }

    public abstract PageReader Pages { get; }

    /// <summary>True while a call reads in this transaction, as far as this thread can see.</summary>
    protected bool IsInside => Volatile.Read(ref _isInside) || Volatile.Read(ref _sharedInside) != 0;

    /// <summary>True when a second thread has been seen in here.</summary>
    protected bool IsShared => _isShared;

    /// <summary>The tree of trees as this transaction sees it.</summary>
    public TreeState Catalog { get; } = new();

    protected int TreeCount => _treeCount;

    protected OpenTree TreeAt(int index) => _trees[index];

    protected void BeginGeneration(in TreeHeader catalog)
    {
        Generation++;
        Catalog.Load(catalog);
    }

    protected void EndGeneration()
    {
        CloseHandles();
        EndTrees();
    }

    /// <summary>From here on every handle of the transaction throws, those of its trees and cursors too.</summary>
    protected void CloseHandles()
    {
        Generation++;
        for (var i = 0; i < _treeCount; i++)
            _trees[i].CloseHandles();
    }

    protected void EndTrees() => CloseTrees(0);

    /// <summary>Ends the handles of the trees from an index on.</summary>
    protected void CloseTrees(int from)
    {
        for (var i = from; i < _treeCount; i++)
            _trees[i].Close();
        _treeCount = from;
    }

    /// <summary>A tree that is open already, or null.</summary>
    protected OpenTree? FindOpen(ReadOnlySpan<byte> name)
    {
        for (var i = 0; i < _treeCount; i++)
        {
            if (!_trees[i].IsDropped && _trees[i].Name.SequenceEqual(name))
                return _trees[i];
        }

        return null;
    }

    protected OpenTree Add(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        if (_treeCount == _trees.Count)
            _trees.Add(new OpenTree(this));
        var tree = _trees[_treeCount++];
        tree.Open(name, header);
        return tree;
    }

    /// <summary>
    /// Marks that a call reads in this transaction, until <see cref="Leave"/>; the caller looks at its handle's generation after
    /// that. It also keeps the transaction from becoming garbage below the call.
    /// </summary>
    /// <remarks>
    /// Plain loads and stores, on a line of this transaction's own, until a second thread has shown itself by opening something:
    /// from then on the mark is taken by one thread at a time, for sure. Whoever ends the transaction sees either mark: see
    /// <see cref="ReadCore.End"/>.
    /// </remarks>
    /// <returns>What <see cref="Leave"/> wants to know: which of the two marks it is.</returns>
    /// <exception cref="InvalidOperationException">Another thread is inside.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool Enter()
    {
        if (_isInside || _isShared)
            return EnterShared();
        _isInside = true;
        return false;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Leave(bool isShared)
    {
        if (isShared)
            Volatile.Write(ref _sharedInside, 0);
        else
            Volatile.Write(ref _isInside, false);
    }

    /// <summary>As <see cref="Enter"/>, for calls that change what the transaction has open: no two threads ever get in.</summary>
    /// <exception cref="InvalidOperationException">Another thread is inside.</exception>
    public virtual bool EnterAlone()
    {
        if (!TryBeBusy())
            ThrowTwoThreads();
        try
        {
            return Enter();
        }
        catch
        {
            NoLongerBusy();
            throw;
        }
    }

    public void LeaveAlone(bool isShared)
    {
        Leave(isShared);
        NoLongerBusy();
    }

    /// <summary>Begins or ends the time in which several threads have been seen in the transaction.</summary>
    protected void SetShared(bool isShared)
    {
        if (_isShared == isShared)
            return;
        _isShared = isShared;

        // Every thread sees it at its next call; one that is inside by then is seen by its mark.
        if (isShared)
            Interlocked.MemoryBarrierProcessWide();
    }

    private bool EnterShared()
    {
        if (_isInside || Interlocked.CompareExchange(ref _sharedInside, 1, 0) != 0)
            ThrowTwoThreads();
        return true;
    }

    /// <summary>True for one thread at a time: only that one changes what the transaction has open.</summary>
    protected bool TryBeBusy() => Interlocked.Exchange(ref _isBusy, 1) == 0;

    protected void NoLongerBusy() => Volatile.Write(ref _isBusy, 0);

    public void ThrowIfEnded(long generation)
    {
        if (generation != Generation)
            ThrowEnded();
    }

    [DoesNotReturn]
    protected static void ThrowTwoThreads() =>
        throw new InvalidOperationException("Two threads use the same transaction at once. For reading, begin one for each thread.");

    [DoesNotReturn]
    protected static void ThrowEnded() =>
        throw new ObjectDisposedException("transaction", "The transaction has ended: it was committed, rolled back or disposed.");
}

/// <summary>A tree as one transaction has it open.</summary>
internal sealed class OpenTree
{
    private readonly List<CursorLease> _cursors = [];
    private readonly TreeState _state = new();
    private byte[] _name = [];
    private PutBuffer? _puts;
    private bool _hasPuts;
    private bool _hasStored;

    public OpenTree(TransactionCore owner) => Owner = owner;

    public TransactionCore Owner { get; }

    /// <summary>The tree with all puts applied. Applying them may fail, as the puts themselves would have.</summary>
    public TreeState State
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            if (_hasPuts)
                ApplyPuts();
            return _state;
        }
    }

    /// <summary>Moves on when the tree's handles end.</summary>
    public long Generation { get; private set; }

    /// <summary>True after the tree was deleted in this transaction.</summary>
    public bool IsDropped { get; set; }

    public ReadOnlySpan<byte> Name => _name;

    /// <summary>The name as an array that never changes, to be restored by <see cref="SetName(byte[])"/>.</summary>
    public byte[] NameBytes => _name;

    public void Open(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        SetName(name);
        IsDropped = false;
        _hasStored = false;
        _state.Load(header);
    }

    /// <summary>
    /// Lets a put wait for others, to be applied with them. False when it has to be made at once: it is large, or keys are
    /// being appended, which finds their leaf without a search. The first one of a transaction tells.
    /// </summary>
    public bool TryDefer(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (!PutBuffer.CanHold(key.Length, value.Length) || (!_hasPuts && (!_state.RightmostLeaf.IsNone || !_hasStored)))
        {
            _hasStored = true;
            return false;
        }

        _puts ??= new PutBuffer();
        if (!_puts.TryAdd(key, value))
        {
            ApplyPuts();
            _puts.TryAdd(key, value);
        }

        _hasPuts = true;
        return true;
    }

    /// <summary>Forgets puts that have not been applied: they are being rolled back.</summary>
    public void DiscardPuts()
    {
        if (!_hasPuts)
            return;
        _hasPuts = false;
        _puts!.Clear();
    }

    public void SetName(ReadOnlySpan<byte> name)
    {
        if (!name.SequenceEqual(_name))
            _name = name.ToArray();
    }

    public void SetName(byte[] name) => _name = name;

    /// <summary>Ends all handles of the tree and of its cursors.</summary>
    public void Close()
    {
        DiscardPuts();
        _puts?.Trim();
        CloseHandles();
        foreach (var cursor in _cursors)
            cursor.Return();
    }

    /// <summary>Ends the handles; a call that is under way in one goes on.</summary>
    public void CloseHandles()
    {
        Generation++;
        foreach (var cursor in _cursors)
            cursor.Generation++;
    }

    /// <summary>A cursor that nobody uses.</summary>
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

    private CursorLease RentCursor()
    {
        foreach (var pooled in _cursors)
        {
            if (pooled.TryOpen())
                return pooled;
        }

        var lease = new CursorLease(this);
        _cursors.Add(lease);
        lease.TryOpen();
        return lease;
    }

    public void ThrowIfClosed(long generation)
    {
        if (generation != Generation || IsDropped)
            ThrowClosed();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ApplyPuts()
    {
        _hasPuts = false;
        var core = (WriteCore)Owner;
        try
        {
            _puts!.Apply(core.Session, _state);
        }
        catch (Exception e) when (core.Break(e))
        {
            throw;
        }
    }

    [DoesNotReturn]
    private void ThrowClosed()
    {
        if (IsDropped)
            throw new InvalidOperationException($"The tree '{Catalog.Decode(Name)}' has been deleted in this transaction.");
        throw new ObjectDisposedException("tree", "The transaction that this tree was opened in has ended, or was rolled back to before that.");
    }
}

/// <summary>A pooled cursor of an open tree.</summary>
internal sealed class CursorLease(OpenTree tree)
{
    private const int Free = 0;
    private const int Open = 1;
    private const int Closing = 2;

    public TreeCursor Cursor { get; } = new();

    public OpenTree Tree => tree;

    /// <summary>Moves on when the cursor is disposed or its tree ends.</summary>
    public long Generation { get; set; }

    // Free, open or closing: of two threads that dispose the cursor only one closes it.
    private int _state;

    public bool TryOpen()
    {
        if (Interlocked.CompareExchange(ref _state, Open, Free) != Free)
            return false;
        Cursor.Open(tree.State, tree.Owner.Pages, canChange: tree.Owner is WriteCore);
        return true;
    }

    public void Return()
    {
        if (Interlocked.CompareExchange(ref _state, Closing, Open) != Open)
            return;
        Generation++;
        Cursor.Close();
        Volatile.Write(ref _state, Free);
    }

    /// <summary>Marks the transaction as being read in; to be followed by a call of its <see cref="TransactionCore.Leave"/>.</summary>
    /// <exception cref="ObjectDisposedException">The cursor was disposed, or its transaction has ended.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public TransactionCore Enter(long generation, out bool mark)
    {
        ThrowIfClosed(generation);
        var owner = tree.Owner;
        mark = owner.Enter();
        if (generation != Generation)
        {
            owner.Leave(mark);
            ThrowClosed();
        }

        return owner;
    }

    /// <summary>Throws when the handle has ended; else the tree is as the cursor should see it.</summary>
    public void ThrowIfClosed(long generation)
    {
        if (generation != Generation)
            ThrowClosed();
        _ = tree.State;
    }

    [DoesNotReturn]
    private static void ThrowClosed() => throw new ObjectDisposedException("cursor", "The cursor was disposed, or its transaction has ended.");
}
