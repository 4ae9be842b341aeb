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
internal abstract class TransactionBody
{
    /// <summary>Objects for open trees that are kept for the next transaction.</summary>
    private const int MaxKeptTrees = 64;

    private readonly List<OpenTree> _trees = [];
    private readonly OpenTreeNames _names = new();
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

    /// <summary>Where the transaction keeps what trees were at its savepoints; null for a reader.</summary>
    protected virtual TreeLog? Log => null;

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

    /// <summary>Closes all trees. Of what they needed, little is kept for the next transaction.</summary>
    protected void EndTrees()
    {
        var areReusable = true;
        for (var i = 0; i < _treeCount; i++)
        {
            _trees[i].Close();
            areReusable &= _trees[i].IsReusable;
        }

        _names.Clear();
        _treeCount = 0;
        if (!areReusable)
            _trees.RemoveAll(static tree => !tree.IsReusable);
        if (_trees.Count > MaxKeptTrees)
        {
            _trees.RemoveRange(MaxKeptTrees, _trees.Count - MaxKeptTrees);
            _trees.TrimExcess();
        }
    }

    /// <summary>Ends the handles of the trees from an index on.</summary>
    protected void CloseTrees(int from)
    {
        for (var i = _treeCount - 1; i >= from; i--)
        {
            if (!_trees[i].IsDropped)
                _names.Remove(_trees[i]);
            _trees[i].Close();
        }

        _treeCount = from;
    }

    /// <summary>A tree that is open already, or null.</summary>
    protected OpenTree? FindOpen(ReadOnlySpan<byte> name) => _names.Find(name);

    protected OpenTree Add(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        if (_treeCount == _trees.Count)
            _trees.Add(new OpenTree(this, Log));
        var tree = _trees[_treeCount];
        tree.Open(name, header, _treeCount);
        _names.Add(tree);
        _treeCount++;
        return tree;
    }

    /// <summary>Gives an open tree another name, or the one that it had at a savepoint.</summary>
    protected void SetName(OpenTree tree, byte[] name)
    {
        if (!tree.IsDropped)
            _names.Remove(tree);
        tree.SetName(name);
        if (!tree.IsDropped)
            _names.Add(tree);
    }

    /// <summary>Says of an open tree that it has been deleted, or has not.</summary>
    protected void SetDropped(OpenTree tree, bool isDropped)
    {
        if (tree.IsDropped == isDropped)
            return;
        if (isDropped)
            _names.Remove(tree);
        tree.IsDropped = isDropped;
        if (!isDropped)
            _names.Add(tree);
    }

    /// <summary>
    /// Marks that a call reads in this transaction, until <see cref="Leave"/>; the caller looks at its handle's generation after
    /// that. It also keeps the transaction from becoming garbage below the call.
    /// </summary>
    /// <remarks>
    /// Plain loads and stores, on a line of this transaction's own, until a second thread has shown itself by opening something:
    /// from then on the mark is taken by one thread at a time, for sure. Whoever ends the transaction sees either mark: see
    /// <see cref="ReadTransactionBody.End"/>.
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
