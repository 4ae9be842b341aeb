using System.Text.Json;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>The time at which a document ends: a value of it. A document without one, or whose value is no time, has no end.</summary>
/// <param name="path">The path of the value.</param>
/// <param name="time">The clock.</param>
internal sealed class Expiry(JsonPath path, TimeProvider time)
{
    /// <summary>The name of the index on the times, which another path does not have.</summary>
    public string IndexName => $"expires {path.Text}";

    /// <summary>The time now, in milliseconds since 1970.</summary>
    public long Now => time.GetUtcNow().ToUnixTimeMilliseconds();

    /// <summary>Returns the part of the index that has the documents that are due.</summary>
    public static KeyRange Through(long now) => KeyRange.Through(new KeyWriter(new byte[sizeof(long) + 1]).Add(now).Written);

    public void AddKey(in Document document, ref IndexKeys keys)
    {
        if (TryGetEnd(document.Json.Span, out var end))
            keys.Add(end);
    }

    public bool IsDue(ReadOnlySpan<byte> json, long now) => TryGetEnd(json, out var end) && end <= now;

    private bool TryGetEnd(ReadOnlySpan<byte> json, out long end)
    {
        long? found = null;
        path.Visit(json, ref found, static (ref Utf8JsonReader value, ref long? found) => found ??= ToMilliseconds(ref value));
        end = found.GetValueOrDefault();
        return found.HasValue;
    }

    // A text is a time of ISO 8601, in UTC if it does not say otherwise; a number is seconds since 1970.
    private static long? ToMilliseconds(ref Utf8JsonReader value)
    {
        if (value.TokenType == JsonTokenType.Number)
            return (long)Math.Clamp(value.GetDouble() * 1000, long.MinValue, long.MaxValue);
        if (value.TokenType != JsonTokenType.String || !value.TryGetDateTime(out var time))
            return null;
        var utc = time.Kind == DateTimeKind.Unspecified ? DateTime.SpecifyKind(time, DateTimeKind.Utc) : time.ToUniversalTime();
        return new DateTimeOffset(utc).ToUnixTimeMilliseconds();
    }
}
