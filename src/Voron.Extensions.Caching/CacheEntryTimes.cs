using System.Buffers.Binary;
using Microsoft.Extensions.Caching.Distributed;

namespace Voron.Extensions.Caching;

/// <summary>
/// The times of an entry, in ticks of UTC, as they are stored before its value: three little-endian integers of 64 bits.
/// </summary>
/// <param name="Expires">The time at which the entry expires if nothing reads it, and under which the index has it.</param>
/// <param name="Absolute">The time after which no access keeps the entry; <see cref="Never"/> for none.</param>
/// <param name="Sliding">The time, in ticks, for which each access keeps it; 0 for none.</param>
internal readonly record struct CacheEntryTimes(long Expires, long Absolute, long Sliding)
{
    public const int Size = 3 * sizeof(long);

    public const long Never = long.MaxValue;

    /// <summary>Returns the times of an entry that is set now.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The absolute expiration is not in the future.</exception>
    public static CacheEntryTimes Of(DistributedCacheEntryOptions options, TimeSpan? defaultSliding, long now)
    {
        var absolute = Never;
        if (options.AbsoluteExpiration is { } at)
            absolute = at.UtcTicks;
        if (options.AbsoluteExpirationRelativeToNow is { } after)
            absolute = Math.Min(absolute, Add(now, after.Ticks));
        if (absolute <= now)
            throw new ArgumentOutOfRangeException(nameof(options), options.AbsoluteExpiration, "The absolute expiration must be in the future.");
        var sliding = (options.SlidingExpiration ?? (absolute == Never ? defaultSliding : null))?.Ticks ?? 0;
        return new CacheEntryTimes(0, absolute, sliding).AccessedAt(now);
    }

    public static CacheEntryTimes Read(ReadOnlySpan<byte> entry) => new(
        BinaryPrimitives.ReadInt64LittleEndian(entry),
        BinaryPrimitives.ReadInt64LittleEndian(entry[sizeof(long)..]),
        BinaryPrimitives.ReadInt64LittleEndian(entry[(2 * sizeof(long))..]));

    public void Write(Span<byte> entry)
    {
        BinaryPrimitives.WriteInt64LittleEndian(entry, Expires);
        BinaryPrimitives.WriteInt64LittleEndian(entry[sizeof(long)..], Absolute);
        BinaryPrimitives.WriteInt64LittleEndian(entry[(2 * sizeof(long))..], Sliding);
    }

    /// <summary>Returns the times after an access, which moves the expiration of an entry that has a sliding one.</summary>
    public CacheEntryTimes AccessedAt(long now) => this with { Expires = Sliding == 0 ? Absolute : Math.Min(Absolute, Add(now, Sliding)) };

    private static long Add(long time, long ticks) => time > DateTime.MaxValue.Ticks - ticks ? Never : time + ticks;
}
