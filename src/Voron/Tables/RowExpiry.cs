using System.Buffers.Binary;
using Voron.Keys;

namespace Voron.Tables;

/// <summary>The times at which rows expire: in milliseconds since 1970 in the row, in seconds in the index.</summary>
internal static class RowExpiry
{
    /// <summary>The name of the index, which no other index may have.</summary>
    public const string IndexName = "(expiry)";

    /// <summary>The length of its keys.</summary>
    public const int KeyBytes = sizeof(long);

    /// <summary>Stands for no time: rows do not expire.</summary>
    public const long Never = long.MinValue;

    /// <summary>The lowest time that a row can have.</summary>
    public const long Min = -62_135_596_800_000;

    /// <summary>
    /// The highest time that a row can have: that of the last fraction of a millisecond that <see cref="DateTimeOffset"/> has, rounded up.
    /// </summary>
    public const long Max = 253_402_300_800_000;

    private const long SecondMilliseconds = 1000;

    /// <summary>Refuses the name of the index as that of another one.</summary>
    /// <exception cref="ArgumentException">It is that name.</exception>
    public static void ThrowIfReserved(string name)
    {
        if (name == IndexName)
            throw new ArgumentException($"The name '{name}' is that of the index of the times at which rows expire.", nameof(name));
    }

    /// <summary>Returns the first millisecond that is not before a time, so that no row expires early.</summary>
    public static long Of(DateTimeOffset time) =>
        time.ToUnixTimeMilliseconds() + (time.UtcTicks % TimeSpan.TicksPerMillisecond == 0 ? 0 : 1);

    /// <summary>Returns the second of a time, also before 1970.</summary>
    public static long SecondOf(long milliseconds)
    {
        var (second, rest) = Math.DivRem(milliseconds, SecondMilliseconds);
        return rest < 0 ? second - 1 : second;
    }

    /// <summary>Writes the key of a time in the index.</summary>
    /// <returns>The key, in the buffer.</returns>
    public static ReadOnlySpan<byte> WriteKey(long milliseconds, Span<byte> buffer)
    {
        BinaryPrimitives.WriteUInt64BigEndian(buffer, OrderedBits.From(SecondOf(milliseconds)));
        return buffer[..KeyBytes];
    }
}
