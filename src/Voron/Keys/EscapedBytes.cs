namespace Voron.Keys;

/// <summary>Self-delimiting byte strings: a byte 0 terminates them, and the bytes 0 and 1 within them become 1 1 and 1 2.</summary>
/// <remarks>
/// No encoded string is a prefix of another one, and their order is that of the unescaped bytes: the terminator sorts before every byte, and escaped
/// bytes sort before all others. In a descending field, all bytes are inverted, including the terminator.
/// </remarks>
internal static class EscapedBytes
{
    private const byte End = 0;
    private const byte Escape = 1;
    private const byte FirstCode = 1;
    private const byte LastCode = 2;

    /// <summary>Escapes the first bytes of a buffer in place; false, with nothing changed, if the buffer is too short.</summary>
    /// <param name="buffer">The bytes, and free space after them.</param>
    /// <param name="length">The number of bytes.</param>
    /// <param name="ends">True to add the terminator; false for the beginning of a byte string.</param>
    /// <param name="escaped">The number of bytes that the result takes, whether it fits or not.</param>
    public static bool TryEscape(Span<byte> buffer, int length, bool ends, out long escaped)
    {
        var special = length - CountOrdinary(buffer[..length]);
        escaped = (long)length + special + (ends ? 1 : 0);
        if (escaped > buffer.Length)
            return false;

        var to = (int)escaped;
        if (ends)
            buffer[--to] = End;
        for (var from = length - 1; to != from + 1; from--)
        {
            var value = buffer[from];
            if (value > Escape)
            {
                buffer[--to] = value;
                continue;
            }

            buffer[--to] = (byte)(value + FirstCode);
            buffer[--to] = Escape;
        }

        return true;
    }

    /// <summary>Returns the length of an escaped byte string with its terminator; 0 if the terminator is missing.</summary>
    /// <param name="source">The escaped bytes, and any bytes after them.</param>
    /// <param name="mask">255 for a descending field, otherwise 0.</param>
    /// <param name="decoded">The number of bytes without escapes and terminator.</param>
    /// <param name="fault">The offset of an invalid escape, or -1.</param>
    public static int Measure(ReadOnlySpan<byte> source, byte mask, out int decoded, out int fault)
    {
        decoded = 0;
        fault = -1;
        for (var at = 0; ; at += 2)
        {
            var run = source[at..].IndexOfAny((byte)(End ^ mask), (byte)(Escape ^ mask));
            if (run < 0)
                return 0;
            decoded += run;
            at += run;
            if ((source[at] ^ mask) == End)
                return at + 1;
            if (at + 1 == source.Length)
                return 0;
            if ((source[at + 1] ^ mask) is not (FirstCode or LastCode))
            {
                fault = at;
                return 0;
            }

            decoded++;
        }
    }

    /// <summary>Decodes a byte string that <see cref="Measure"/> has found valid.</summary>
    /// <param name="source">The escaped bytes without the terminator.</param>
    /// <param name="mask">255 for a descending field, otherwise 0.</param>
    /// <param name="destination">A buffer of exactly the decoded length.</param>
    public static void Decode(ReadOnlySpan<byte> source, byte mask, Span<byte> destination)
    {
        if (mask == 0 && source.Length == destination.Length)
        {
            source.CopyTo(destination);
            return;
        }

        var to = 0;
        for (var from = 0; from < source.Length; from++)
        {
            var value = (byte)(source[from] ^ mask);
            destination[to++] = value != Escape ? value : (byte)((source[++from] ^ mask) - FirstCode);
        }
    }

    private static int CountOrdinary(ReadOnlySpan<byte> bytes)
    {
        // Most strings contain no such byte, which this check finds fast.
        if (!bytes.ContainsAnyInRange(End, Escape))
            return bytes.Length;
        var count = 0;
        foreach (var value in bytes)
            count += value > Escape ? 1 : 0;
        return count;
    }
}
