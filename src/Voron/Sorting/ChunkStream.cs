using Voron.IO;

namespace Voron.Sorting;

/// <summary>The entries of sorted chunks, each of which ends before the next one begins. The chunks belong to the caller.</summary>
internal sealed unsafe class ChunkStream : SortedStream
{
    // Sorted entries are anywhere in their chunk: they are prefetched this many entries before they are read.
    private const int EntriesAhead = 3;

    private readonly List<SortChunk> _chunks = [];
    private SortChunk _chunk;
    private int _next;
    private int _nextChunk;
    private int _prefix;
    private bool _hasHeads;

    private ChunkStream(SortChunk first)
    {
        _chunks.Add(first);
        _chunk = first;
    }

    public override int SharedBytes => _chunks[0].FirstKey.CommonPrefixLength(_chunks[^1].LastKey);

    /// <summary>Returns streams of sorted chunks, in the order of the chunks: one alone if the entries arrived in key order.</summary>
    public static IEnumerable<SortedStream> Of(IEnumerable<SortChunk> chunks)
    {
        ChunkStream? stream = null;
        foreach (var chunk in chunks)
        {
            if (stream != null && stream._chunks[^1].LastKey.SequenceCompareTo(chunk.FirstKey) < 0)
            {
                stream._chunks.Add(chunk);
                continue;
            }

            if (stream != null)
                yield return stream;
            stream = new ChunkStream(chunk);
        }

        if (stream != null)
            yield return stream;
    }

    public override void SetPrefix(int bytes)
    {
        _prefix = bytes;
        _hasHeads = _chunk.Prefix == bytes;
        Head = KeySorter.Head(Key + bytes, KeyLength - bytes);
    }

    public override bool MoveNext()
    {
        if (_nextChunk == 0 || _next == _chunk.Count)
        {
            if (_nextChunk == _chunks.Count)
            {
                IsOver = true;
                return false;
            }

            _chunk = _chunks[_nextChunk++];
            _next = 0;
            _hasHeads = _chunk.Prefix == _prefix;
        }

        var items = _chunk.Items;
        ref var item = ref items[_next];
        Key = _chunk.Bytes + item.Offset;
        KeyLength = item.KeyLength;
        Value = Key + item.KeyLength;
        ValueLength = item.ValueLength;
        Head = _hasHeads ? _chunk.Heads[_next] : KeySorter.Head(Key + _prefix, KeyLength - _prefix);
        if (_next + EntriesAhead < _chunk.Count)
            Prefetch(items[_next + EntriesAhead]);
        _next++;
        return true;
    }

    public override void Dispose()
    {
    }

    // A processor follows a longer entry on its own.
    private void Prefetch(in SortItem item) =>
        CacheLines.PrefetchRange(_chunk.Bytes + item.Offset, Math.Min(item.KeyLength + item.ValueLength, 4 * CacheLines.LineBytes));
}
