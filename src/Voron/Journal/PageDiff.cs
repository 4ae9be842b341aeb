using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;
using System.Runtime.Intrinsics;
using Voron.Format;

namespace Voron.Journal;

/// <summary>A transaction's changes to a page, as bytes to overwrite.</summary>
/// <remarks>
/// <para>The format: byte runs, one after another until the end of the bytes, in ascending order of position:</para>
/// <code>
/// run    := skip, length and kind, content
/// skip   := number        bytes from the end of the previous run; for the first run, from byte 32 of a page or byte 0 of a buffer
/// length
/// and    := number        (length - 1) * 2 + kind, where kind 0 is bytes as stored, kind 1 is zeros
/// kind
/// content:= length bytes  for kind 0; nothing for kind 1
/// number := 1 to 5 bytes  seven bits each, lowest first; the high bit means that another byte follows; below 2^32
/// </code>
/// <para>
/// A byte run that starts within 127 bytes of the end of the previous one and is at most 64 bytes long has a two-byte header; other headers
/// usually take three bytes.
/// </para>
/// <para>
/// Byte runs only ever overwrite bytes with their new values. Each can therefore be applied any number of times, over the version it was
/// compared with or over any mixture of that version and the new one, and the result is the new page. A byte run may cover unchanged bytes:
/// two changes less than four bytes apart become one run, because another header would cost as much.
/// </para>
/// <para>
/// Against zeros, a page or a buffer is written in full except for stretches of zeros; the target must be zeroed before such runs are
/// applied. The first 32 bytes of a page (<see cref="PageHeader.UnjournaledBytes"/>) are in no diff.
/// </para>
/// </remarks>
internal static unsafe class PageDiff
{
    // A gap left between two byte runs must be at least as long as the longest header it may cause; otherwise MaxLength would be wrong.
    private const int MergeGapOfChanges = 3;
    private const int MergeGapOfPage = 7;
    private const int MergeGapOfBuffer = 15;

    /// <summary>
    /// Each gap saves the bytes of the next header. Only the first header adds to the length: at most 5 bytes for the skip and 5 for the
    /// length.
    /// </summary>
    private const int FirstHeader = 10;

    private const ulong JournaledInFirstChunk = ulong.MaxValue << PageHeader.UnjournaledBytes;

    /// <summary>The number of bytes that <see cref="Write"/> needs at its target, including scratch space after the result.</summary>
    public static int MaxLength(int pageSize) => pageSize - PageHeader.UnjournaledBytes + FirstHeader + ByteRunWriter.Slack;

    /// <summary>The number of bytes that <see cref="WriteSparse"/> needs at its target, including scratch space after the result.</summary>
    public static long MaxSparseLength(int length) => (long)length + FirstHeader + ByteRunWriter.Slack;

    /// <summary>Writes the byte runs that turn the previous version into <paramref name="page"/>, and returns their end.</summary>
    /// <param name="target">Has space for <see cref="MaxLength"/> bytes.</param>
    /// <param name="page">The new bytes.</param>
    /// <param name="previous">The newest version of a lower transaction, or null for a new page, which is compared with zeros.</param>
    /// <param name="pageSize">A power of two from 4096 to 65536.</param>
    /// <param name="dirtyLines">Bit i: the i-th 64th of the page may have changed. Ignored for a new page.</param>
    public static byte* Write(byte* target, byte* page, byte* previous, int pageSize, ulong dirtyLines)
    {
        Debug.Assert(pageSize is >= 4096 and <= 65536 && BitOperations.IsPow2(pageSize));
        return previous == null ? WriteAgainstZeros(target, page, pageSize) : WriteChanges(target, page, previous, pageSize, dirtyLines);
    }

    /// <summary>
    /// Applies byte runs to a page; runs written against zeros need a zeroed page. Returns false if the runs are malformed or leave the
    /// page. Nothing outside the page has been touched then, but the runs up to the fault have been applied.
    /// </summary>
    public static bool TryApply(ReadOnlySpan<byte> runs, byte* page, int pageSize)
        => TryApplyRuns(runs, page, PageHeader.UnjournaledBytes, pageSize);

    /// <summary>
    /// Writes the byte runs that turn zeros into the bytes at <paramref name="buffer"/>, and returns their end. For an extent of overflow
    /// pages the caller advances the pointer to leave out the first <see cref="PageHeader.UnjournaledBytes"/>.
    /// </summary>
    /// <param name="target">Has space for <see cref="MaxSparseLength"/> bytes.</param>
    /// <param name="buffer">The bytes, of any content.</param>
    /// <param name="length">Any length.</param>
    public static byte* WriteSparse(byte* target, byte* buffer, int length)
    {
        var runs = new ByteRunWriter(target, buffer, 0, length, MergeGapOfBuffer);

        long at = 0;
        for (; at <= length - ByteRunWriter.ChunkBytes; at += ByteRunWriter.ChunkBytes)
        {
            var mask = NonZero(buffer + at);
            if (mask == 0 || (mask == ulong.MaxValue && runs.TryExtend(at)))
                continue;
            runs.Add(at, Close15(mask));
        }

        ulong rest = 0;
        for (var i = 0; at + i < length; i++)
            rest |= (buffer[at + i] != 0 ? 1UL : 0UL) << i;
        runs.Add(at, Close15(rest));
        return runs.Finish();
    }

    /// <summary>Applies byte runs to a zeroed buffer. Returns false under the same conditions as <see cref="TryApply"/>.</summary>
    public static bool TryApplySparse(ReadOnlySpan<byte> runs, byte* buffer, int length) => TryApplyRuns(runs, buffer, 0, length);

    /// <summary>
    /// Compares the lines that are not marked, and returns the offset of the first journaled byte in them that changed, or -1. For checks
    /// in debug builds.
    /// </summary>
    public static int FindUnmarked(byte* page, byte* previous, int pageSize, ulong dirtyLines)
    {
        var lineBytes = pageSize / 64;
        for (var clean = ~dirtyLines; clean != 0; clean &= clean - 1)
        {
            var line = BitOperations.TrailingZeroCount(clean) * lineBytes;
            var start = Math.Max(line, PageHeader.UnjournaledBytes);
            var length = line + lineBytes - start;
            var same = new ReadOnlySpan<byte>(page + start, length).CommonPrefixLength(new ReadOnlySpan<byte>(previous + start, length));
            if (same != length)
                return start + same;
        }

        return -1;
    }

    private static byte* WriteChanges(byte* target, byte* page, byte* previous, int pageSize, ulong dirtyLines)
    {
        var runs = new ByteRunWriter(target, page, PageHeader.UnjournaledBytes, pageSize, MergeGapOfChanges);
        var lineBytes = pageSize / 64;
        for (; dirtyLines != 0; dirtyLines &= dirtyLines - 1)
        {
            var chunk = BitOperations.TrailingZeroCount(dirtyLines) * lineBytes;
            var end = chunk + lineBytes;
            for (; chunk < end; chunk += ByteRunWriter.ChunkBytes)
            {
                var changed = Different(page + chunk, previous + chunk);
                if (chunk == 0)
                    changed &= JournaledInFirstChunk;
                if (changed == 0)
                    continue;

                changed = Close3(changed);
                var zeros = Open8(changed & ~NonZero(page + chunk));
                if (zeros == 0)
                    runs.Add(chunk, changed);
                else
                    runs.AddWithZeros(chunk, changed, zeros);
            }
        }

        return runs.Finish();
    }

    private static byte* WriteAgainstZeros(byte* target, byte* page, int pageSize)
    {
        var runs = new ByteRunWriter(target, page, PageHeader.UnjournaledBytes, pageSize, MergeGapOfPage);
        runs.Add(0, Close7(NonZero(page) & JournaledInFirstChunk));
        for (long chunk = ByteRunWriter.ChunkBytes; chunk < pageSize; chunk += ByteRunWriter.ChunkBytes)
        {
            var mask = NonZero(page + chunk);
            if (mask == 0 || (mask == ulong.MaxValue && runs.TryExtend(chunk)))
                continue;
            runs.Add(chunk, Close7(mask));
        }

        return runs.Finish();
    }

    private static bool TryApplyRuns(ReadOnlySpan<byte> runs, byte* target, long position, long length)
    {
        fixed (byte* start = runs)
        {
            var at = start;
            var end = start + runs.Length;
            while (at < end)
            {
                if (!TryReadNumber(ref at, end, out var skip) || !TryReadNumber(ref at, end, out var lengthAndKind))
                    return false;

                position += skip;
                long count = (lengthAndKind >> 1) + 1;
                if (count > length - position)
                    return false;

                if ((lengthAndKind & 1) != 0)
                {
                    Unsafe.InitBlockUnaligned(target + position, 0, (uint)count);
                }
                else
                {
                    if (count > end - at)
                        return false;
                    Unsafe.CopyBlockUnaligned(target + position, at, (uint)count);
                    at += count;
                }

                position += count;
            }
        }

        return true;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static bool TryReadNumber(ref byte* at, byte* end, out uint value)
    {
        if (at < end && *at < 0x80)
        {
            value = *at++;
            return true;
        }

        return TryReadLongNumber(ref at, end, out value);
    }

    private static bool TryReadLongNumber(ref byte* at, byte* end, out uint value)
    {
        ulong sum = 0;
        for (var shift = 0; shift < 35 && at < end; shift += 7)
        {
            var part = *at++;
            sum |= (ulong)(part & 0x7F) << shift;
            if (part >= 0x80)
                continue;
            value = (uint)sum;
            return sum <= uint.MaxValue;
        }

        value = 0;
        return false;
    }

    /// <summary>Returns a bit for each of 64 bytes that differs.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Different(byte* left, byte* right)
        => ~EqualBits(Vector256.Load(left), Vector256.Load(right), Vector256.Load(left + 32), Vector256.Load(right + 32));

    /// <summary>Returns a bit for each of 64 bytes that is not zero.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong NonZero(byte* bytes)
        => ~EqualBits(Vector256.Load(bytes), Vector256<byte>.Zero, Vector256.Load(bytes + 32), Vector256<byte>.Zero);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong EqualBits(Vector256<byte> left, Vector256<byte> right, Vector256<byte> leftHigh, Vector256<byte> rightHigh)
        => Vector256.Equals(left, right).ExtractMostSignificantBits()
            | ((ulong)Vector256.Equals(leftHigh, rightHigh).ExtractMostSignificantBits() << 32);

    // CloseN sets the zeros in gaps of up to N between ones, by growing each one upwards by N and shrinking it back. Gaps within N bits of
    // the top may remain; ByteRunWriter joins across those itself, and across gaps between chunks.

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Close3(ulong mask)
    {
        var grown = mask | (mask << 1);
        grown |= grown << 2;
        grown &= grown >> 1;
        grown &= grown >> 2;
        return grown | mask;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Close7(ulong mask)
    {
        var grown = mask | (mask << 1);
        grown |= grown << 2;
        grown |= grown << 4;
        grown &= grown >> 1;
        grown &= grown >> 2;
        grown &= grown >> 4;
        return grown | mask;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Close15(ulong mask)
    {
        var grown = mask | (mask << 1);
        grown |= grown << 2;
        grown |= grown << 4;
        grown |= grown << 8;
        grown &= grown >> 1;
        grown &= grown >> 2;
        grown &= grown >> 4;
        grown &= grown >> 8;
        return grown | mask;
    }

    /// <summary>Keeps the ones that belong to stretches of at least <see cref="ByteRunWriter.MinZeroRun"/>.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private static ulong Open8(ulong mask)
    {
        mask &= mask >> 1;
        mask &= mask >> 2;
        mask &= mask >> 4;
        mask |= mask << 1;
        mask |= mask << 2;
        return mask | (mask << 4);
    }
}
