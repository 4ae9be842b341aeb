using Voron.Testing;

namespace Voron.Tables;

/// <summary>The rows themselves, or those in a unique index, in key order.</summary>
internal sealed class EntrySource : RowSource
{
    private readonly Tree _tree;
    private readonly RangeCopy _range;
    private readonly bool _isOfRows;
    private readonly Cursor _cursor;
    private bool _isBegun;

    /// <param name="tree">The tree.</param>
    /// <param name="range">The keys.</param>
    /// <param name="isOfRows">True for the row tree, whose keys are row ids; false for an index, whose values are row ids.</param>
    public EntrySource(Tree tree, KeyRange range, bool isOfRows)
    {
        _tree = tree;
        _range = new RangeCopy(range);
        _isOfRows = isOfRows;
        _cursor = tree.OpenCursor();
    }

    public override bool MoveNext(bool isBackward, PageToken after)
    {
        if (_range.IsEmpty)
            return false;
        var found = _isBegun ? Step(isBackward) : Begin(isBackward, after);
        _isBegun = true;
        if (!found || !(isBackward ? _range.IsFromStart(_cursor.Key) : _range.IsBeforeEnd(_cursor.Key)))
            return false;
        RowId = ReadRowId();
        return true;
    }

    public override ReadOnlySpan<byte> Key => _cursor.Key;

    public override ChangesAheadOfQuery BeginWalk()
    {
        var walk = new ChangesAheadOfQuery();
        _tree.Listen(walk);
        return walk;
    }

    public override void EndWalk(ChangesAheadOfQuery walk) => _tree.StopListening(walk);

    public override bool HasRows => _isOfRows;

    public override bool TryGetRow(out ReadOnlySpan<byte> row)
    {
        row = _isOfRows && _cursor.IsOnEntry ? _cursor.Value : default;
        return !row.IsEmpty;
    }

    public override long Count()
    {
        if (_range.IsEmpty)
            return 0;
        if (_range.Start.IsEmpty && !_range.TryGetEnd(out _))
            return _tree.Count;
        using var cursor = _tree.OpenCursor();
        var count = 0L;
        for (var found = cursor.Seek(_range.Start); found && _range.IsBeforeEnd(cursor.Key); found = cursor.MoveNext())
            count++;
        return count;
    }

    public override void Dispose() => _cursor.Dispose();

    private bool Step(bool isBackward) => isBackward ? _cursor.MovePrevious() : _cursor.MoveNext();

    private bool Begin(bool isBackward, PageToken after)
    {
        var found = isBackward ? SeekEnd() : _range.Start.IsEmpty ? _cursor.SeekFirst() : _cursor.Seek(_range.Start);
        if (!found || after.IsStart)
            return found;
        Span<byte> buffer = stackalloc byte[RowIdBytes.Bytes];
        var key = _isOfRows ? RowIdBytes.Write(after.RowId, buffer) : after.Key;

        // A token from another query may be before the range.
        var order = _cursor.Key.SequenceCompareTo(key);
        if (isBackward ? order < 0 : order > 0)
            return true;
        found = isBackward ? _cursor.SeekForPrevious(key) : _cursor.Seek(key);
        return found && IsPassed(key, after, isBackward) ? Step(isBackward) : found;
    }

    // In an index, another row may have taken the key since then. Its row id decides whether it was passed.
    private bool IsPassed(ReadOnlySpan<byte> key, PageToken after, bool isBackward)
    {
        if (!_cursor.Key.SequenceEqual(key))
            return false;
        return _isOfRows || (isBackward ? ReadRowId() >= after.RowId : ReadRowId() <= after.RowId);
    }

    private bool SeekEnd()
    {
        if (!_range.TryGetEnd(out var end))
            return _cursor.SeekLast();
        return _cursor.SeekForPrevious(end) && (!_cursor.Key.SequenceEqual(end) || _cursor.MovePrevious());
    }

    private long ReadRowId()
    {
        var bytes = _isOfRows ? _cursor.Key : _cursor.Value;
        return RowIdBytes.TryRead(PlantedFault.BelieveRowIds ? bytes[..RowIdBytes.Bytes] : bytes, out var rowId)
            ? rowId
            : throw new CorruptionException($"A table entry has {bytes.Length} bytes where a row id is expected. Run Verify, or restore a backup.");
    }
}
