using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;

namespace Voron.Journal;

/// <summary>Writes the byte runs of <see cref="PageDiff"/>, which describes their format, and joins runs that are close together.</summary>
internal unsafe ref struct ByteRunWriter
{
    /// <summary>The number of bytes in one chunk of the source: one for each bit of a mask.</summary>
    public const int ChunkBytes = 64;

    /// <summary>
    /// The number of bytes after the last byte run that the target may be written to, because short copies move whole vectors.
    /// </summary>
    public const int Slack = 64;

    /// <summary>Shorter stretches of zeros are stored like other bytes: two headers would cost about as much.</summary>
    public const int MinZeroRun = 8;

    /// <summary>A position far enough before any buffer that no byte run joins to it.</summary>
    private const long Nowhere = long.MinValue / 2;

    private readonly byte* _source;
    private readonly long _sourceLength;
    private readonly int _mergeGap;
    private byte* _target;

    /// <summary>The end of the last byte run written.</summary>
    private long _written;

    // The pending byte run, which the next bytes may still extend; empty at first.
    private long _start;
    private long _end;
    private bool _zeros;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ByteRunWriter(byte* target, byte* source, long from, long sourceLength, int mergeGap)
    {
        _source = source;
        _sourceLength = sourceLength;
        _mergeGap = mergeGap;
        _target = target;
        _written = from;
        _start = Nowhere;
        _end = Nowhere;
    }

    /// <summary>Adds the bytes of a chunk whose bits are set in <paramref name="mask"/>. Chunks are added in ascending order.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Add(long chunk, ulong mask)
    {
        while (mask != 0)
        {
            var first = BitOperations.TrailingZeroCount(mask);
            var length = BitOperations.TrailingZeroCount(~(mask >> first));
            AddRun(chunk + first, chunk + first + length, zeros: false);

            // The carry passes through the lowest stretch of ones and clears it.
            mask &= mask + (mask & (0 - mask));
        }
    }

    /// <summary>
    /// As <see cref="Add"/>, for all bytes of a chunk. Returns false, with nothing added, unless they continue the last byte run.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryExtend(long chunk)
    {
        if (_end != chunk || _zeros)
            return false;
        _end += ChunkBytes;
        return true;
    }

    /// <summary>As <see cref="Add"/>, for a chunk in which the bits in <paramref name="zeros"/> mark bytes that are zero.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void AddWithZeros(long chunk, ulong mask, ulong zeros)
    {
        while (mask != 0)
        {
            var first = BitOperations.TrailingZeroCount(mask);
            var isZero = ((zeros >> first) & 1) != 0;
            var kind = isZero ? zeros : mask & ~zeros;
            var end = first + BitOperations.TrailingZeroCount(~(kind >> first));
            AddRun(chunk + first, chunk + end, isZero);
            mask = end == ChunkBytes ? 0 : mask & (ulong.MaxValue << end);
        }
    }

    /// <summary>Writes the pending byte run and returns the end of the byte runs.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public byte* Finish()
    {
        if (_end != Nowhere)
            WritePending();
        return _target;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void AddRun(long start, long end, bool zeros)
    {
        Debug.Assert(start < end && start >= _end);

        // Zeros are joined only where they touch, because the bytes in a gap need not be zero.
        if (zeros == _zeros && start - _end <= (zeros ? 0 : _mergeGap))
        {
            _end = end;
            return;
        }

        if (_end != Nowhere)
            WritePending();
        _start = start;
        _end = end;
        _zeros = zeros;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void WritePending()
    {
        var room = _sourceLength - _start;
        _target = WriteRun(_target, _source + _start, _end - _start, room, (uint)(_start - _written), _zeros);
        _written = _end;
    }

    // Static, so that the writer's fields can live in registers: their address is never taken.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static byte* WriteRun(byte* target, byte* from, long length, long readable, uint skip, bool zeros)
    {
        target = WriteNumber(target, skip);
        target = WriteNumber(target, ((uint)(length - 1) << 1) | (zeros ? 1u : 0u));
        if (zeros)
            return target;

        if (length <= 2 * Vector256<byte>.Count && readable >= 2 * Vector256<byte>.Count)
        {
            Vector256.Store(Vector256.Load(from), target);
            Vector256.Store(Vector256.Load(from + Vector256<byte>.Count), target + Vector256<byte>.Count);
        }
        else
        {
            Unsafe.CopyBlockUnaligned(target, from, (uint)length);
        }

        return target + length;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static byte* WriteNumber(byte* target, uint value)
    {
        while (value >= 0x80)
        {
            *target++ = (byte)(value | 0x80);
            value >>= 7;
        }

        *target++ = (byte)value;
        return target;
    }
}
