namespace Voron.Documents.Text;

/// <summary>The documents that have a word, or a phrase, in the order of their numbers, with the number of times.</summary>
internal sealed class Postings : IDisposable
{
    private const int ChunkIds = 256;

    private readonly long[] _ids;
    private readonly byte[] _times;
    private readonly bool _hasCursor;
    private readonly IdCursor _cursor;
    private int _at;
    private int _count;

    /// <summary>The documents that have a word.</summary>
    public Postings(IdTree words, byte[] word)
    {
        Count = words.CountOf(word);
        _ids = new long[Math.Min(Count, ChunkIds)];
        _times = new byte[_ids.Length];
        _hasCursor = Count > 0;
        if (!_hasCursor)
            return;
        _cursor = words.OpenIds(word);
        _cursor.SeekFirst();
        _count = _cursor.Fill(_ids, _times);
    }

    /// <summary>Documents that were found.</summary>
    public Postings(List<long> ids, List<byte> times)
    {
        Count = ids.Count;
        _ids = [.. ids];
        _times = [.. times];
        _count = ids.Count;
    }

    /// <summary>The number of all documents.</summary>
    public long Count { get; }

    /// <summary>How often the current document has the word.</summary>
    public int Times => _times[_at];

    /// <summary>Goes to the first document whose number is at least the given one, never backwards.</summary>
    /// <returns>The number of the document; <see cref="long.MaxValue"/> at the end.</returns>
    public long Seek(long number)
    {
        if (_at < _count && _ids[_at] >= number)
            return _ids[_at];
        if (_count == 0 || (_ids[_count - 1] < number && !FillFrom(number)))
        {
            _at = _count;
            return long.MaxValue;
        }

        // Neighbours are near: the range doubles until it has the number.
        var step = 1;
        while (_at + step < _count && _ids[_at + step] < number)
            step *= 2;
        var found = _ids.AsSpan(_at, Math.Min(step + 1, _count - _at)).BinarySearch(number);
        _at += found < 0 ? ~found : found;
        return _ids[_at];
    }

    public void Dispose()
    {
        if (_hasCursor)
            _cursor.Dispose();
    }

    // The next ids first: a seek costs as much as some hundred of them.
    private bool FillFrom(long number)
    {
        if (!_hasCursor)
            return false;
        _at = 0;
        _count = _cursor.Fill(_ids, _times);
        if (_count > 0 && _ids[_count - 1] >= number)
            return true;
        if (_count == 0 || !_cursor.Seek(number))
        {
            _count = 0;
            return false;
        }

        _count = _cursor.Fill(_ids, _times);
        return _count > 0;
    }
}
