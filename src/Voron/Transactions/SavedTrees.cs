using System.Diagnostics;
using Voron.Format;

namespace Voron.Transactions;

/// <summary>
/// The states that the open trees of the write transaction had at its savepoints. The state of a tree is saved when the tree changes for the first
/// time within a savepoint, so the cost of a savepoint depends on the changes made in it, not on the number of open trees.
/// </summary>
/// <remarks>
/// Used by the holder of the writer. Invariants, where S is the stamp of an open savepoint:
/// 1. A tree that was open at S and has changed since has exactly one oldest entry after S, with the state that it had at S.
/// 2. <c>OpenTree.SavedStamp</c> is the stamp of the tree's newest entry, or of the savepoint in which the tree was opened.
/// </remarks>
internal sealed class SavedTrees
{
    private const int MaxKeptEntries = 1024;
    private const int MinSweep = 64;

    private readonly List<SavedTree> _entries = [];
    private int _countAfterSweep;

    /// <summary>The stamp of the innermost savepoint; 0 when there is none. A tree with an older stamp is saved before it changes.</summary>
    public int Stamp { get; private set; }

    /// <summary>The number of entries; a new savepoint begins after them.</summary>
    public int Count => _entries.Count;

    /// <summary>Begins a savepoint.</summary>
    public void Begin(int stamp)
    {
        Debug.Assert(stamp > Stamp, "The stamps of savepoints must rise.");
        Stamp = stamp;
    }

    /// <summary>Saves the current state of a tree.</summary>
    public void Save(in SavedTree tree)
    {
        Debug.Assert(tree.EarlierStamp < Stamp, "A tree must be saved only once within a savepoint, and only while there is one.");
        _entries.Add(tree);
    }

    /// <summary>Gets an entry. Entries are restored from the newest to the oldest.</summary>
    public SavedTree this[int index] => _entries[index];

    /// <summary>Removes the entries from an index on, which have been restored. Their savepoint stays open.</summary>
    public void Truncate(int count, int stamp)
    {
        Debug.Assert(stamp <= Stamp && stamp > 0, "A rollback must end in a savepoint that is open.");
        Debug.Assert(count <= _entries.Count, "A savepoint must begin within the entries that were saved.");
        _entries.RemoveRange(count, _entries.Count - count);
        _countAfterSweep = Math.Min(_countAfterSweep, count);
        Stamp = stamp;
    }

    /// <summary>Ends savepoints and keeps their changes, which then count as changes within the innermost savepoint that stays open.</summary>
    /// <param name="first">The index of the first entry of the innermost savepoint that stays open.</param>
    /// <param name="stamp">Its stamp; 0 when there is none.</param>
    public void Release(int first, int stamp)
    {
        Debug.Assert(stamp < Stamp, "The savepoint that stays open must be older than those that end.");
        Stamp = stamp;
        if (stamp == 0)
        {
            Clear();
            return;
        }

        // Only the oldest entry of each tree is needed. The others are removed when there are twice as many entries as after the last sweep.
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

    /// <summary>Removes all entries, at the end of the transaction or of its outermost savepoint.</summary>
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
/// <param name="Index">The index of the tree among the open trees of the transaction.</param>
/// <param name="Header">Its header.</param>
/// <param name="Changed">Whether the header differed from the saved one.</param>
/// <param name="IsDropped">Whether the tree had been deleted.</param>
/// <param name="Name">Its name.</param>
/// <param name="EarlierStamp">The stamp of the savepoint for which the tree had been saved before.</param>
internal readonly record struct SavedTree(int Index, TreeHeader Header, bool Changed, bool IsDropped, byte[] Name, int EarlierStamp);
