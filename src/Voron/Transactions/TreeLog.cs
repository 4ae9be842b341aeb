using System.Diagnostics;
using Voron.Format;

namespace Voron.Transactions;

/// <summary>
/// What the open trees of the write transaction were at its savepoints. A tree is kept when it changes for the first time within
/// a savepoint, so a savepoint costs what changes in it, however many trees are open.
/// </summary>
/// <remarks>
/// Used by the holder of the writer. Invariants, where S is the stamp of a savepoint that is open:
/// 1. A tree that has changed since S, and was open at S, has exactly one oldest entry behind S, with what it was at S.
/// 2. <see cref="OpenTree.SavedStamp"/> is that of the newest entry of the tree, or of the savepoint that it was opened in.
/// </remarks>
internal sealed class TreeLog
{
    private const int MaxKeptEntries = 1024;
    private const int MinSweep = 64;

    private readonly List<SavedTree> _entries = [];
    private int _countAfterSweep;

    /// <summary>The stamp of the innermost savepoint; 0 when there is none. A tree with an older one is kept before it changes.</summary>
    public int Stamp { get; private set; }

    /// <summary>Entries; a savepoint begins behind them.</summary>
    public int Count => _entries.Count;

    /// <summary>Begins a savepoint.</summary>
    public void Begin(int stamp)
    {
        Debug.Assert(stamp > Stamp);
        Stamp = stamp;
    }

    /// <summary>Keeps a tree as it is.</summary>
    public void Save(OpenTree tree)
    {
        var state = tree.StateAsIs;
        _entries.Add(new SavedTree(tree, state.ToHeader(), state.Changed, tree.IsDropped, tree.NameBytes, tree.SavedStamp));
        tree.SavedStamp = Stamp;
    }

    /// <summary>An entry, to be restored from the newest to the oldest.</summary>
    public SavedTree this[int index] => _entries[index];

    /// <summary>Forgets the entries from an index on, which have been restored. Their savepoint stays open.</summary>
    public void Truncate(int count, int stamp)
    {
        _entries.RemoveRange(count, _entries.Count - count);
        _countAfterSweep = Math.Min(_countAfterSweep, count);
        Stamp = stamp;
    }

    /// <summary>Ends savepoints and keeps what has changed in them: it has changed within the one that is innermost now.</summary>
    /// <param name="first">Where the innermost savepoint that stays open has its first entry.</param>
    /// <param name="stamp">Its stamp; 0 when there is none.</param>
    public void Release(int first, int stamp)
    {
        Stamp = stamp;
        if (stamp == 0)
        {
            Clear();
            return;
        }

        // Of the entries of one tree only the oldest is needed. It is searched for when there are twice as many as last time.
        if (_entries.Count <= (2 * _countAfterSweep) + MinSweep)
            return;
        var kept = first;
        for (var i = first; i < _entries.Count; i++)
        {
            if (_entries[i].EarlierStamp < stamp)
                _entries[kept++] = _entries[i];
        }

        _entries.RemoveRange(kept, _entries.Count - kept);
        _countAfterSweep = kept;
    }

    /// <summary>Forgets everything, at the end of the transaction or of its outermost savepoint.</summary>
    public void Clear()
    {
        _entries.Clear();
        if (_entries.Capacity > MaxKeptEntries)
            _entries.Capacity = 0;
        _countAfterSweep = 0;
        Stamp = 0;
    }
}

/// <summary>A tree as it was before it changed within a savepoint.</summary>
/// <param name="EarlierStamp">The stamp of the savepoint for which the tree had been kept before.</param>
internal readonly record struct SavedTree(OpenTree Tree, TreeHeader Header, bool Changed, bool IsDropped, byte[] Name, int EarlierStamp)
{
    /// <summary>Makes the tree's state what it was. Name and deletion are the affair of the transaction, which knows trees by name.</summary>
    public void RestoreState()
    {
        var state = Tree.StateAsIs;
        state.Load(Header);
        state.Changed = Changed;
        Tree.SavedStamp = EarlierStamp;
    }
}
