using System.Buffers;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Paging;

namespace Voron.Transactions;

/// <summary>
/// Gathers the bytes of a value of unknown length: in memory while the value is small, then in chunks, each written when it is full.
/// </summary>
/// <param name="thresholdBytes">The length from which a value is large.</param>
/// <param name="file">Writes the chunks.</param>
internal sealed class ValueChunks(int thresholdBytes, IChunkFile file)
{
    private const int SmallestBuffer = 4 << 10;

    private readonly List<ulong> _checksums = [];
    private byte[] _buffer = [];
    private int _filled;
    private long _written;

    /// <summary>The bytes of a value that has stayed small.</summary>
    public ReadOnlySpan<byte> SmallValue => _buffer.AsSpan(0, _filled);

    /// <summary>The checksums of the chunks written so far.</summary>
    public ReadOnlySpan<ulong> Checksums => CollectionsMarshal.AsSpan(_checksums);

    /// <summary>The number of chunks written so far.</summary>
    public int Count => _checksums.Count;

    /// <summary>True if a value of that length is large, and needs an extent.</summary>
    public bool IsLarge(long length) => length >= thresholdBytes;

    /// <summary>Ensures that the buffer is large enough for <see cref="Add"/>.</summary>
    /// <remarks>
    /// The buffer grows with the bytes that have arrived, not with those that may follow: the threshold may be far above most values.
    /// </remarks>
    /// <param name="total">The number of bytes that have arrived, including those to be added.</param>
    public void Prepare(long total)
    {
        var needed = IsLarge(total) ? LargeValues.ChunkBytes : (int)total;
        if (needed <= _buffer.Length)
            return;
        var bytes = (int)Math.Min(Math.Max(needed, Math.Max(SmallestBuffer, 2L * _buffer.Length)), Array.MaxLength);
        EngineMemory.Ask((nuint)bytes);
        var larger = ArrayPool<byte>.Shared.Rent(bytes);
        _buffer.AsSpan(0, _filled).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = larger;
    }

    /// <summary>Adds bytes, and writes the chunks that they fill.</summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="total">The number of bytes that have arrived, including these. If they make a large value, its extent has space for them.</param>
    /// <param name="isLast">Whether these are the last bytes of the value.</param>
    /// <param name="firstPage">The first page of the extent of a large value.</param>
    public void Add(in ReadOnlySequence<byte> bytes, long total, bool isLast, long firstPage)
    {
        if (IsLarge(total))
            WriteFull(firstPage);
        foreach (var segment in bytes)
        {
            for (var left = segment.Span; !left.IsEmpty;)
            {
                var count = IsLarge(total) ? Math.Min(left.Length, LargeValues.ChunkBytes - _filled) : left.Length;
                left[..count].CopyTo(_buffer.AsSpan(_filled));
                _filled += count;
                left = left[count..];
                if (IsLarge(total))
                    WriteFull(firstPage);
            }
        }

        if (!isLast || !IsLarge(total) || _filled == 0)
            return;
        Write(firstPage, _buffer.AsSpan(0, _filled));
        _filled = 0;
    }

    /// <summary>Copies a chunk that was written to another extent, to which the value moves.</summary>
    public void Move(int chunk, long firstPage, long target)
    {
        EngineMemory.Ask(LargeValues.ChunkBytes);
        var buffer = ArrayPool<byte>.Shared.Rent(LargeValues.ChunkBytes);
        var bytes = buffer.AsSpan(0, (int)Math.Min(LargeValues.ChunkBytes, _written - (long)chunk * LargeValues.ChunkBytes));
        file.ReadChunk(firstPage, chunk, bytes, _checksums[chunk]);
        _checksums[chunk] = file.WriteChunk(target, chunk, bytes);
        ArrayPool<byte>.Shared.Return(buffer);
    }

    /// <summary>Returns the buffer. Nothing is added afterwards.</summary>
    public void ReturnBuffer()
    {
        ArrayPool<byte>.Shared.Return(_buffer);
        _buffer = [];
        _filled = 0;
    }

    // When a value becomes large, there may be several chunks in the buffer.
    private void WriteFull(long firstPage)
    {
        var at = 0;
        for (; _filled - at >= LargeValues.ChunkBytes; at += LargeValues.ChunkBytes)
            Write(firstPage, _buffer.AsSpan(at, LargeValues.ChunkBytes));
        if (at == 0)
            return;
        _buffer.AsSpan(at, _filled - at).CopyTo(_buffer);
        _filled -= at;
    }

    private void Write(long firstPage, ReadOnlySpan<byte> chunk)
    {
        _checksums.Add(file.WriteChunk(firstPage, _checksums.Count, chunk));
        _written += chunk.Length;
    }
}

/// <summary>Writes the chunks of a value to its extent, and reads them back when the value moves to a larger one.</summary>
internal interface IChunkFile
{
    /// <summary>Writes a chunk of a value whose extent starts at a page.</summary>
    /// <returns>Its checksum.</returns>
    /// <exception cref="StorageFullException">There is not enough space.</exception>
    /// <exception cref="StorageAccessException">The chunk could not be written.</exception>
    ulong WriteChunk(long firstPage, long chunk, ReadOnlySpan<byte> bytes);

    /// <summary>Reads a chunk back that was written before.</summary>
    /// <exception cref="CorruptionException">The chunk does not hold the bytes that were written.</exception>
    /// <exception cref="StorageAccessException">The chunk could not be read.</exception>
    void ReadChunk(long firstPage, long chunk, Span<byte> bytes, ulong checksum);
}
