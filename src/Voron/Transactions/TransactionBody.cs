using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Trees;

namespace Voron.Transactions;

/// <summary>The common part of read and write transactions: the trees they have open, and a generation for their handles.</summary>
/// <remarks>
/// Transaction bodies are pooled. A handle remembers the generation for which it was created. When the transaction ends, the generation
/// increases, and all of its handles throw from then on.
/// </remarks>
internal abstract class TransactionBody
{
    /// <summary>The maximum number of objects for open trees that are kept for the next transaction.</summary>
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

    /// <summary>True when a second thread has been seen in this transaction.</summary>
    protected bool IsShared => _isShared;

    /// <summary>The tree of trees as this transaction sees it.</summary>
    public TreeState Catalog { get; } = new();

    protected int TreeCount => _treeCount;

    /// <summary>The log of the states of trees at the transaction's savepoints; null for a reader.</summary>
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

    /// <summary>Ends all handles of the transaction, including those of its trees and cursors: they throw from here on.</summary>
    protected void CloseHandles()
    {
        Generation++;
        for (var i = 0; i < _treeCount; i++)
            _trees[i].CloseHandles();
    }

    /// <summary>Closes all trees. Keeps little of their memory for the next transaction.</summary>
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

    /// <summary>Closes the trees from an index on, which ends their handles.</summary>
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

    /// <summary>Returns a tree that is already open, or null.</summary>
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

    /// <summary>Gives an open tree another name, or the name that it had at a savepoint.</summary>
    protected void SetName(OpenTree tree, byte[] name)
    {
        if (!tree.IsDropped)
            _names.Remove(tree);
        tree.SetName(name);
        if (!tree.IsDropped)
            _names.Add(tree);
    }

    /// <summary>Marks an open tree as deleted, or as not deleted.</summary>
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
    /// Marks that a call reads in this transaction, until <see cref="Leave"/>; the caller checks its handle's generation after that. The mark
    /// also keeps the transaction from becoming garbage during the call.
    /// </summary>
    /// <remarks>
    /// Uses plain loads and stores, on a cache line of this transaction's own, until a second thread has been seen because it opened something.
    /// From then on, only one thread at a time can take the mark, with certainty. The caller that ends the transaction sees either mark: see
    /// <see cref="ReadTransactionBody.End"/>.
    /// </remarks>
    /// <returns>The argument for <see cref="Leave"/>: which of the two marks was taken.</returns>
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

    /// <summary>As <see cref="Enter"/>, for calls that change the transaction's open trees and cursors: never lets two threads in.</summary>
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

    /// <summary>Begins or ends the period in which several threads have been seen in the transaction.</summary>
    protected void SetShared(bool isShared)
    {
        if (_isShared == isShared)
            return;
        _isShared = isShared;

        // Every thread sees the change at its next call; a thread that is already inside is seen by its mark.
        if (isShared)
            Interlocked.MemoryBarrierProcessWide();
    }

    private bool EnterShared()
    {
        if (_isInside || Interlocked.CompareExchange(ref _sharedInside, 1, 0) != 0)
            ThrowTwoThreads();
        return true;
    }

    /// <summary>Returns true for one thread at a time: only that thread changes the transaction's open trees and cursors.</summary>
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
