using System.Buffers.Binary;

namespace Voron.Tables;

/// <summary>The expiry times of rows: in milliseconds since 1970 in the row, in seconds in the index.</summary>
internal static class RowExpiry
{
    /// <summary>The name of the index, which no other index may have.</summary>
    public const string IndexName = "(expiry)";

    /// <summary>The length of its keys.</summary>
    public const int KeyBytes = sizeof(long);

    /// <summary>Means that rows do not expire.</summary>
    public const long Never = long.MinValue;

    /// <summary>The lowest expiry time.</summary>
    public const long Min = -62_135_596_800_000;

    /// <summary>The highest expiry time: the last instant of <see cref="DateTimeOffset"/>, rounded up to a millisecond.</summary>
    public const long Max = 253_402_300_800_000;

    private const long SecondMilliseconds = 1000;

    /// <summary>Refuses the name of the expiry index for another index.</summary>
    /// <exception cref="ArgumentException">The name is that of the expiry index.</exception>
    public static void ThrowIfReserved(string name)
    {
        if (name == IndexName)
            throw new ArgumentException($"The name '{name}' is reserved for the expiry index.", nameof(name));
    }

    /// <summary>Returns a time in milliseconds, rounded up so that no row expires early.</summary>
    public static long Of(DateTimeOffset time) =>
        time.ToUnixTimeMilliseconds() + (time.UtcTicks % TimeSpan.TicksPerMillisecond == 0 ? 0 : 1);

    /// <summary>Returns a time in seconds, rounded down, also before 1970.</summary>
    public static long SecondOf(long milliseconds)
    {
        var (second, rest) = Math.DivRem(milliseconds, SecondMilliseconds);
        return rest < 0 ? second - 1 : second;
    }

    /// <summary>Writes the key of a time in the index.</summary>
    /// <returns>The key, in the buffer.</returns>
    public static ReadOnlySpan<byte> WriteKey(long milliseconds, Span<byte> buffer)
    {
        // As KeyWriter writes it: with the sign bit inverted, bytes are in the order of the numbers.
        BinaryPrimitives.WriteInt64BigEndian(buffer, SecondOf(milliseconds) ^ long.MinValue);
        return buffer[..KeyBytes];
    }
}
