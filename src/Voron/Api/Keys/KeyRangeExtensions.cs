namespace Voron;

/// <summary>Restricts a range of keys by one more bound. None of these methods makes a range larger.</summary>
public static class KeyRangeExtensions
{
    /// <summary>Returns the keys of the range that are at least <paramref name="start"/>.</summary>
    public static KeyRange From(this KeyRange range, ReadOnlySpan<byte> start) => range.Intersect(KeyRange.From(start));

    /// <summary>Returns the keys of the range above <paramref name="key"/>: the rest of the range after the last key seen.</summary>
    public static KeyRange After(this KeyRange range, ReadOnlySpan<byte> key) => range.Intersect(KeyRange.After(key));

    /// <summary>Returns the keys of the range below <paramref name="end"/>: the rest of the range when it is read backwards.</summary>
    public static KeyRange Before(this KeyRange range, ReadOnlySpan<byte> end) => range.Intersect(KeyRange.Before(end));

    /// <summary>Returns the keys of the range that are at most <paramref name="last"/>.</summary>
    public static KeyRange Through(this KeyRange range, ReadOnlySpan<byte> last) => range.Intersect(KeyRange.Through(last));

    /// <summary>Returns the keys of the range that begin with <paramref name="prefix"/>.</summary>
    public static KeyRange Prefix(this KeyRange range, ReadOnlySpan<byte> prefix) => range.Intersect(KeyRange.Prefix(prefix));

    /// <summary>Returns the keys of the range above all those that begin with <paramref name="prefix"/>.</summary>
    public static KeyRange AfterPrefix(this KeyRange range, ReadOnlySpan<byte> prefix) => range.Intersect(KeyRange.AfterPrefix(prefix));
}
