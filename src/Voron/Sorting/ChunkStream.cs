using Voron.IO;

namespace Voron.Sorting;

/// <summary>The entries of sorted chunks, each of which ends before the next one begins. The chunks belong to the caller.</summary>
internal sealed unsafe class ChunkStream : SortedStream
{
    // A merge reads too many chunks side by side for the processor to follow them on its own.
    private const int BytesAhead = 4 * CacheLines.LineBytes;

    private readonly List<SortChunk> _chunks = [];
    private byte* _at;
    private byte* _end;
    private int _nextChunk;

    private ChunkStream(SortChunk first) => _chunks.Add(first);

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

    public override bool MoveNext()
    {
        if (_at == _end)
        {
            if (_nextChunk == _chunks.Count)
            {
                IsOver = true;
                return false;
            }

            _at = _chunks[_nextChunk].EntriesStart;
            _end = _chunks[_nextChunk++].EntriesEnd;
        }

        KeyLength = SortChunk.KeyLengthAt(_at);
        ValueLength = SortChunk.ValueLengthAt(_at);
        Key = _at + SortChunk.EntryHeader;
        Value = Key + KeyLength;
        _at = Value + ValueLength;
        CacheLines.PrefetchRange(_at + BytesAhead, Math.Min(KeyLength + ValueLength, BytesAhead));
        return true;
    }

    public override void Dispose()
    {
    }
}
