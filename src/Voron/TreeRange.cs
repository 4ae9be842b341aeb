namespace Voron;

/// <summary>Entries in order, for <c>foreach</c>.</summary>
public ref struct TreeRange
{
    private readonly Cursor _cursor;
    private readonly ReadOnlySpan<byte> _from;
    private readonly ReadOnlySpan<byte> _to;
    private readonly bool _isPrefix;
    private bool _started;

    internal TreeRange(Cursor cursor, ReadOnlySpan<byte> from, ReadOnlySpan<byte> to, bool isPrefix)
    {
        _cursor = cursor;
        _from = from;
        _to = to;
        _isPrefix = isPrefix;
        _started = false;
    }

    /// <summary>The current entry of the enumeration.</summary>
    public readonly TreeEntry Current => new(_cursor.Key, _cursor.Value);

    /// <summary>Returns the range itself, which is its own enumerator.</summary>
    public readonly TreeRange GetEnumerator() => this;

    /// <summary>Moves to the next entry; false at the end.</summary>
    public bool MoveNext()
    {
        var found = _started ? _cursor.MoveNext() : _from.IsEmpty ? _cursor.SeekFirst() : _cursor.Seek(_from);
        _started = true;
        if (!found || _to.IsEmpty)
            return found;
        return _isPrefix ? _cursor.Key.StartsWith(_to) : _cursor.Key.SequenceCompareTo(_to) < 0;
    }

    /// <summary>Closes the cursor of the range.</summary>
    public readonly void Dispose() => _cursor.Dispose();
}
