namespace Voron.Tables;

/// <summary>The rows in an index of id sets, in the order of its keys; rows with equal keys in id order.</summary>
internal sealed class IdSource : RowSource
{
    private readonly IdTree _tree;
    private readonly RangeCopy _range;
    private readonly IdKeyCursor _keys;

    // In a shared index, the id range of the table; otherwise all ids.
    private readonly long _firstId;
    private readonly long _lastId = long.MaxValue;
    private IdCursor _ids;
    private bool _isBegun;
    private bool _hasIds;
    private bool _isBeforeIds;

    // A copy, because in a write transaction the ids of a key outlive the key's memory.
    private KeyCopy _key;

    /// <summary>A source of all ids of a tree.</summary>
    public IdSource(IdTree tree, KeyRange range)
        : this(tree, new RangeCopy(range))
    {
    }

    /// <summary>A source of the rows that a table has in an index.</summary>
    public IdSource(OpenIndex index, KeyRange range)
        : this(index.Ids, new RangeCopy(range))
    {
        if (index.Schema!.Shared is { } place)
            (_firstId, _lastId) = (place.FirstId, place.LastId);
    }

    private IdSource(IdTree tree, RangeCopy range)
    {
        _tree = tree;
        _range = range;
        _keys = tree.OpenCursor();
    }

    private bool IsPart => _firstId != 0;

    public override ReadOnlySpan<byte> Key => _key.Value;

    public override long EntryId => RowId + _firstId;

    public override ChangesAheadOfQuery BeginWalk()
    {
        var walk = new ChangesAheadOfQuery();
        _tree.Listen(walk);
        return walk;
    }

    public override void EndWalk(ChangesAheadOfQuery walk) => _tree.StopListening(walk);

    /// <summary>Returns another source of all ids of the tree, at the start of the same range.</summary>
    public IdSource Again() => new(_tree, _range);

    public override bool MoveNext(bool isBackward, PageToken after)
    {
        if (_range.IsEmpty)
            return false;
        if (!_isBegun)
        {
            _isBegun = true;
            if (!Begin(isBackward, after))
                return false;
        }

        while (true)
        {
            if (_hasIds)
            {
                if (MoveIds(isBackward))
                {
                    RowId = _ids.Id - _firstId;
                    return true;
                }

                CloseIds();
            }

            if (!(isBackward ? _keys.MovePrevious() : _keys.MoveNext()) || !OpenIds(isBackward))
                return false;
        }
    }

    public override long Count()
    {
        if (_range.IsEmpty)
            return 0;
        if (_range.Start.IsEmpty && !_range.TryGetEnd(out _) && !IsPart)
            return _tree.ValueCount;
        using var keys = _tree.OpenCursor();
        var count = 0L;
        var found = _range.Start.IsEmpty ? keys.SeekFirst() : keys.Seek(_range.Start);
        for (; found && _range.IsBeforeEnd(keys.Key); found = keys.MoveNext())
            count += IsPart ? CountPart(keys) : keys.Count;
        return count;
    }

    public override void Dispose()
    {
        CloseIds();
        _keys.Dispose();
    }

    // Moves to the first key, and opens its ids. The next move reads the first id.
    private bool Begin(bool isBackward, PageToken after)
    {
        var found = isBackward ? SeekEnd() : _range.Start.IsEmpty ? _keys.SeekFirst() : _keys.Seek(_range.Start);
        if (!found || after.IsStart)
            return found && OpenIds(isBackward);

        // A token from another query may be before the range.
        var order = _keys.Key.SequenceCompareTo(after.Key);
        if (isBackward ? order < 0 : order > 0)
            return OpenIds(isBackward);
        if (!(isBackward ? _keys.SeekForPrevious(after.Key) : _keys.Seek(after.Key)))
            return false;
        var isSame = _keys.Key.SequenceEqual(after.Key);
        if (!OpenIds(isBackward))
            return false;

        if (!isSame)
            return true;

        // Moves the cursor to the token's row if it still has the key, otherwise between the neighboring rows.
        var id = IsPart ? _firstId + after.RowId : after.Id;
        if (!(isBackward ? _ids.Seek(id) : _ids.SeekForPrevious(id)))
            _ = isBackward ? _ids.SeekLast() && _ids.MoveNext() : _ids.SeekFirst() && _ids.MovePrevious();
        _isBeforeIds = false;
        return true;
    }

    // In a shared index, the ids of other tables precede and follow those of this one.
    private bool MoveIds(bool isBackward)
    {
        if (!IsPart)
            return isBackward ? _ids.MovePrevious() : _ids.MoveNext();
        bool found;
        if (_isBeforeIds)
            found = isBackward ? _ids.SeekForPrevious(_lastId) : _ids.Seek(_firstId);
        else
            found = isBackward ? _ids.MovePrevious() : _ids.MoveNext();
        _isBeforeIds = false;
        return found && _ids.Id >= _firstId && _ids.Id <= _lastId;
    }

    private long CountPart(IdKeyCursor keys)
    {
        using var ids = keys.OpenIds();
        var count = 0L;
        for (var found = ids.Seek(_firstId); found && ids.Id <= _lastId; found = ids.MoveNext())
            count++;
        return count;
    }

    private bool SeekEnd()
    {
        if (!_range.TryGetEnd(out var end))
            return _keys.SeekLast();
        return _keys.SeekForPrevious(end) && (!_keys.Key.SequenceEqual(end) || _keys.MovePrevious());
    }

    private bool OpenIds(bool isBackward)
    {
        var key = _keys.Key;
        if (!(isBackward ? _range.IsFromStart(key) : _range.IsBeforeEnd(key)))
            return false;
        _key.Take(key);
        _ids = _keys.OpenIds();
        _hasIds = true;
        _isBeforeIds = true;
        return true;
    }

    private void CloseIds()
    {
        if (_hasIds)
            _ids.Dispose();
        _hasIds = false;
    }
}
