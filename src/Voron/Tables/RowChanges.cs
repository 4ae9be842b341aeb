namespace Voron.Tables;

/// <summary>The rows of a table that writers have changed since a <see cref="SortedIndexBuild"/> began to read them. Used by the holder of the writer.</summary>
/// <remarks>
/// <code>
///   rows are read        row ids alone: these rows are read again, and what was read before is left out
///   the tree is built    row ids, and the keys that the tree has of them
/// </code>
/// It may contain rows that have not changed after all, because their transactions were rolled back: settling them changes nothing. If the rows take
/// more memory than they may, it forgets all and notes no more, and the build is given up: a writer must not fail for it.
/// </remarks>
/// <param name="indexes">The numbers of the indexes that are built.</param>
/// <param name="mostBytes">The memory that noted rows may take.</param>
internal sealed class RowChanges(IReadOnlyList<ushort> indexes, long mostBytes)
{
    // Roughly: a set entry and a queue entry; a dictionary entry, a queue entry and a list; and an array and a list entry for each key.
    private const int UnreadBytes = 40;
    private const int ChangedBytes = 120;
    private const int KeyBytes = 48;

    private readonly HashSet<long> _unread = [];
    private readonly Dictionary<long, List<(int Index, byte[] Key)>> _changed = [];
    private readonly Queue<long> _nextUnread = [];
    private readonly Queue<long> _nextChanged = [];
    private bool _keepsKeys;
    private long _bytes;

    /// <summary>True if there were too many changes, of which nothing is known any more.</summary>
    public bool IsOverfull { get; private set; }

    /// <summary>The number of changed rows whose keys in the tree are kept.</summary>
    public int Changed => _changed.Count;

    /// <summary>From now on, keeps the keys of a row when it changes for the first time.</summary>
    public void KeepKeys()
    {
        if (_keepsKeys)
            return;
        _keepsKeys = true;
        foreach (var rowId in _unread)
            _nextUnread.Enqueue(rowId);
    }

    /// <summary>Returns the place of an index among those that are built; -1 if it is none of them.</summary>
    public int Find(IndexSchema? index)
    {
        for (var i = 0; index != null && i < indexes.Count; i++)
        {
            if (indexes[i] == index.Id)
                return i;
        }

        return -1;
    }

    /// <summary>Returns whether the old keys of a changed row in an index are needed.</summary>
    public bool Wants(IndexSchema? index) => _keepsKeys && Find(index) >= 0;

    /// <summary>Notes that a row is changed; returns true if the caller has to <see cref="Keep"/> its keys.</summary>
    public bool Note(long rowId)
    {
        if (IsOverfull)
            return false;
        if (_keepsKeys)
            return !_unread.Contains(rowId) && !_changed.ContainsKey(rowId);
        if (_unread.Add(rowId))
            Take(UnreadBytes);
        return false;
    }

    /// <summary>Keeps the keys of a row as they were before its first change.</summary>
    public void Keep(long rowId, List<(int Index, byte[] Key)> keys)
    {
        // Ensured first, so that a row is in both or in none.
        _changed.EnsureCapacity(_changed.Count + 1);
        _nextChanged.EnsureCapacity(_nextChanged.Count + 1);
        _changed.Add(rowId, keys);
        _nextChanged.Enqueue(rowId);
        Take(ChangedBytes + BytesOf(keys));
    }

    /// <summary>Takes a row to read again; false if none is left.</summary>
    public bool TryTakeUnread(out long rowId) => _nextUnread.TryDequeue(out rowId) && _unread.Remove(rowId);

    /// <summary>Takes a changed row, and the keys that the trees have of it; false if none is left.</summary>
    public bool TryTakeChanged(out long rowId, out List<(int Index, byte[] Key)> keys)
    {
        keys = [];
        if (!_nextChanged.TryDequeue(out rowId) || !_changed.Remove(rowId, out keys!))
            return false;
        _bytes -= ChangedBytes + BytesOf(keys);
        return true;
    }

    private static long BytesOf(List<(int Index, byte[] Key)> keys) => keys.Sum(static key => (long)KeyBytes + key.Key.Length);

    private void Take(long bytes)
    {
        _bytes += bytes;
        if (_bytes <= mostBytes)
            return;
        IsOverfull = true;
        _unread.Clear();
        _unread.TrimExcess();
        _changed.Clear();
        _changed.TrimExcess();
        _nextUnread.Clear();
        _nextChanged.Clear();
    }
}
