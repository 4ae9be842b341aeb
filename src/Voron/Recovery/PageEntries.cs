using Voron.Format;

namespace Voron.Recovery;

/// <summary>The page entries of a record, one after the other.</summary>
internal unsafe ref struct PageEntries
{
    private readonly RecordPayload _payload;
    private readonly uint _count;
    private readonly byte* _end;
    private byte* _next;
    private PageEntry _current;

    /// <param name="payload">The payload, which must not be disposed before this object.</param>
    /// <param name="count">The number of entries, according to the record's header.</param>
    public PageEntries(RecordPayload payload, uint count)
    {
        _payload = payload;
        _count = count;
        _next = payload.Bytes;
        _end = payload.Bytes + payload.Length;
    }

    /// <summary>The index of the current entry.</summary>
    public long Index { get; private set; } = -1;

    public readonly PageEntry Current => _current;

    /// <summary>The bytes that belong to the current entry.</summary>
    public byte* Content { get; private set; }

    /// <exception cref="CorruptionException">The next entry extends past the end of the payload.</exception>
    public bool MoveNext()
    {
        if (++Index >= _count)
            return false;
        if (!PageEntry.TryRead(_next, _end - _next, out _current, out var size))
            throw _payload.Malformed($"page entry {Index} of {_count} that extends past its end");
        Content = _next + size;
        _next = Content + _current.Length;
        return true;
    }
}
