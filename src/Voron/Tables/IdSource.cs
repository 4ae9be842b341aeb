namespace Voron.Tables;

/// <summary>The rows that an index of id sets names, in the order of its keys, and of the row ids where keys are equal.</summary>
internal sealed class IdSource : RowSource
{
    private readonly IdTree _tree;
    private readonly RangeCopy _range;
    private readonly IdKeyCursor _keys;
    private IdCursor _ids;
    private bool _isBegun;
    private bool _hasIds;

    // A copy, because the ids of a key outlast it in a write transaction.
    private byte[] _key = new byte[32];
    private int _keyLength;

    public IdSource(IdTree tree, KeyRange range)
    {
        _tree = tree;
        _range = new RangeCopy(range);
        _keys = tree.OpenCursor();
    }

    public override ReadOnlySpan<byte> Key => _key.AsSpan(0, _keyLength);

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
                if (isBackward ? _ids.MovePrevious() : _ids.MoveNext())
                {
                    RowId = _ids.Id;
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
        if (_range.Start.IsEmpty && !_range.TryGetEnd(out _))
            return _tree.ValueCount;
        using var keys = _tree.OpenCursor();
        var count = 0L;
        var found = _range.Start.IsEmpty ? keys.SeekFirst() : keys.Seek(_range.Start);
        for (; found && _range.IsBeforeEnd(keys.Key); found = keys.MoveNext())
            count += keys.Count;
        return count;
    }

    public override void Dispose()
    {
        CloseIds();
        _keys.Dispose();
    }

    // Goes to the first key, and opens its ids, the first of which is the next one.
    private bool Begin(bool isBackward, PageToken after)
    {
        var found = isBackward ? SeekEnd() : _range.Start.IsEmpty ? _keys.SeekFirst() : _keys.Seek(_range.Start);
        if (!found || after.IsStart)
            return found && OpenIds(isBackward);

        // A token of another query may be before the range.
        var order = _keys.Key.SequenceCompareTo(after.Key);
        if (isBackward ? order < 0 : order > 0)
            return OpenIds(isBackward);
        if (!(isBackward ? _keys.SeekForPrevious(after.Key) : _keys.Seek(after.Key)))
            return false;
        var isSame = _keys.Key.SequenceEqual(after.Key);
        if (!OpenIds(isBackward))
            return false;

        // The cursor goes to the row of the token, if the key still has it, or between those around it.
        if (isSame && !(isBackward ? _ids.Seek(after.RowId) : _ids.SeekForPrevious(after.RowId)))
            _ = isBackward ? _ids.SeekLast() && _ids.MoveNext() : _ids.SeekFirst() && _ids.MovePrevious();
        return true;
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
        SetKey(key);
        _ids = _keys.OpenIds();
        _hasIds = true;
        return true;
    }

    private void CloseIds()
    {
        if (_hasIds)
            _ids.Dispose();
        _hasIds = false;
    }

    private void SetKey(ReadOnlySpan<byte> key)
    {
        if (_key.Length < key.Length)
            _key = new byte[Math.Max(key.Length, 2 * _key.Length)];
        key.CopyTo(_key);
        _keyLength = key.Length;
    }
}
