namespace Voron.Tables;

/// <summary>The rows of a table that writers have changed since a <see cref="SortedIndexBuild"/> began to read them. Used by the holder of the writer.</summary>
/// <remarks>
/// <code>
///   rows are read        row ids alone: these rows are read again, and what was read before is left out
///   the tree is built    row ids, and the keys that the tree has of them
/// </code>
/// It may contain rows that have not changed after all, because their transactions were rolled back: settling them changes nothing.
/// </remarks>
/// <param name="indexes">The numbers of the indexes that are built.</param>
internal sealed class RowChanges(IReadOnlyList<ushort> indexes)
{
    private readonly HashSet<long> _unread = [];
    private readonly Dictionary<long, List<(int Index, byte[] Key)>> _changed = [];
    private readonly Queue<long> _nextUnread = [];
    private readonly Queue<long> _nextChanged = [];
    private bool _keepsKeys;

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
        if (_keepsKeys)
            return !_unread.Contains(rowId) && !_changed.ContainsKey(rowId);
        _unread.Add(rowId);
        return false;
    }

    /// <summary>Keeps the keys of a row as they were before its first change.</summary>
    public void Keep(long rowId, List<(int Index, byte[] Key)> keys)
    {
        _changed.Add(rowId, keys);
        _nextChanged.Enqueue(rowId);
    }

    /// <summary>Takes a row to read again; false if none is left.</summary>
    public bool TryTakeUnread(out long rowId) => _nextUnread.TryDequeue(out rowId) && _unread.Remove(rowId);

    /// <summary>Takes a changed row, and the keys that the trees have of it; false if none is left.</summary>
    public bool TryTakeChanged(out long rowId, out List<(int Index, byte[] Key)> keys)
    {
        keys = [];
        return _nextChanged.TryDequeue(out rowId) && _changed.Remove(rowId, out keys!);
    }
}
