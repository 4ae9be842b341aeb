namespace Voron.Tool.Contents;

/// <summary>A range of keys as it was given.</summary>
/// <param name="From">The first key; null for no bound.</param>
/// <param name="To">The key before which the range ends; null for no bound.</param>
/// <param name="Prefix">The beginning of all keys; null for any.</param>
internal sealed record KeyBounds(string? From, string? To, string? Prefix)
{
    /// <summary>Whether a bound was given.</summary>
    public bool AreGiven => (From ?? To ?? Prefix) != null;

    /// <summary>Returns the range.</summary>
    /// <param name="parse">Returns the bytes of a key.</param>
    /// <exception cref="ToolException">A key is not spelled as one.</exception>
    public KeyRange ToRange(Func<string, byte[]> parse)
    {
        var keys = KeyRange.All;
        if (Prefix != null)
            keys = keys.Intersect(KeyRange.Prefix(parse(Prefix)));
        if (From != null)
            keys = keys.Intersect(KeyRange.From(parse(From)));
        if (To != null)
            keys = keys.Intersect(KeyRange.Before(parse(To)));
        return keys;
    }

    /// <summary>Returns the range of whole numbers, both of which belong to it; false if it is empty.</summary>
    /// <exception cref="ToolException">A key is no number, or a prefix is given.</exception>
    public bool TryGetNumbers(out long first, out long last)
    {
        if (Prefix != null)
            throw new ToolException(ExitCode.Usage, "The keys are numbers, and have no beginning: give --from and --to.");
        first = From == null ? long.MinValue : ParseNumber(From);
        last = To == null ? long.MaxValue : ParseNumber(To);
        return To == null ? first <= last : first < last--;
    }

    /// <exception cref="ToolException">The text is no whole number of 64 bits.</exception>
    public static long ParseNumber(string text) => long.TryParse(text, System.Globalization.CultureInfo.InvariantCulture, out var number)
        ? number
        : throw new ToolException(ExitCode.Usage, $"'{text}' is no whole number, which the keys are here.");
}
