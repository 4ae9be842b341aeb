using System.Diagnostics;
using Voron.Format;
using Voron.Paging;
using Voron.Testing;
using Voron.Trees;
using Voron.Trees.KeyHeads;

namespace Voron.Transactions;

/// <summary>The common part of read and write transactions: the trees they have open, and a generation for their handles.</summary>
/// <remarks>
/// Transaction bodies are pooled. A handle remembers the generation for which it was created. When the transaction ends, the generation
/// increases, and all of its handles throw from then on.
/// </remarks>
internal abstract class TransactionBody : OwningTransaction
{
    /// <summary>The maximum number of objects for open trees that are kept for the next transaction.</summary>
    private const int MaxKeptTrees = 64;

    private readonly List<OpenTree> _trees = [];
    private readonly OpenTreeNames _names = new();
    private readonly SavedTrees? _savedTrees;
    private readonly TimeProvider _clock;
    private int _treeCount;
    private long _time;
    private long _timeGeneration;

    /// <param name="clock">The clock for row expiry; null for the system clock.</param>
    /// <param name="savedTrees">Where the transaction saves the states of trees at its savepoints; null for a read transaction.</param>
    /// <inheritdoc cref="OwningTransaction(PageReader, TransactionKeyHeads, WriteContext)"/>
    protected TransactionBody(PageReader pages, TransactionKeyHeads keyHeads, WriteContext? write, SavedTrees? savedTrees, TimeProvider? clock)
        : base(pages, keyHeads, write)
    {
        _savedTrees = savedTrees;
        _clock = clock ?? TimeProvider.System;
        Catalog = new TreeState(keyHeads);
    }

    /// <summary>The catalog as this transaction sees it.</summary>
    public TreeState Catalog { get; }

    /// <summary>
    /// Returns the time at which this transaction judges row expiry, in milliseconds since 1970: that of the first call, until the transaction
    /// ends.
    /// </summary>
    public long ReadTime()
    {
        if (_timeGeneration != Generation || PlantedFault.ReadTimeAgain)
        {
            _time = _clock.GetUtcNow().ToUnixTimeMilliseconds();
            _timeGeneration = Generation;
        }

        return _time;
    }

    protected int TreeCount => _treeCount;

    protected OpenTree TreeAt(int index) => _trees[index];

    protected void BeginGeneration(in TreeHeader catalog)
    {
        Debug.Assert((Generation & 1) == 0 && _treeCount == 0, "The last transaction must have ended, with its trees.");
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
        Debug.Assert((Generation & 1) != 0, "Only the handles of an open transaction can end.");
        Generation++;
        for (var i = 0; i < _treeCount; i++)
            _trees[i].CloseHandles(isUndone: false);
    }

    /// <summary>Closes all trees. Keeps little of their memory for the next transaction.</summary>
    protected void EndTrees()
    {
        for (var i = 0; i < _treeCount; i++)
        {
            _trees[i].Close(isUndone: false);
            _trees[i].TrimCursors();
        }

        _names.Clear();
        _treeCount = 0;
        if (_trees.Count > MaxKeptTrees)
        {
            _trees.RemoveRange(MaxKeptTrees, _trees.Count - MaxKeptTrees);
            _trees.TrimExcess();
        }
    }

    /// <summary>Closes the trees from an index on, which ends their handles, because their opening is undone.</summary>
    protected void CloseTrees(int from)
    {
        for (var i = _treeCount - 1; i >= from; i--)
        {
            if (!_trees[i].IsDropped)
                _names.Remove(_trees[i]);
            _trees[i].Close(isUndone: true);
        }

        _treeCount = from;
    }

    /// <summary>Returns a tree that is already open, or null.</summary>
    protected OpenTree? FindOpen(ReadOnlySpan<byte> name) => _names.Find(name);

    protected OpenTree Add(ReadOnlySpan<byte> name, in TreeHeader header)
    {
        if (_treeCount == _trees.Count)
            _trees.Add(new OpenTree(this, _savedTrees));
        var tree = _trees[_treeCount];
        tree.Open(name, header, _treeCount);
        _names.Add(tree);
        _treeCount++;
        return tree;
    }

    /// <summary>Renames an open tree, or restores the name that it had at a savepoint.</summary>
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
}
