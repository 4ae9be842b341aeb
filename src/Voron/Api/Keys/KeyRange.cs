using Voron.Trees.Pages;

namespace Voron;

/// <summary>
/// A range of keys in the order of their bytes, such as <c>KeyRange.Prefix("user/"u8)</c> or <c>KeyRange.From("a"u8).Before("b"u8)</c>.
/// </summary>
/// <remarks>
/// <para>
/// The range refers to the bytes of its bounds and copies nothing; they must not change while it is used. Bounds may be longer than any key.
/// Bounds that leave no key between them, such as <c>From("b"u8).Before("a"u8)</c>, make an empty range, not an error, and so does
/// <c>default</c>. An empty bound is below every key: <c>From</c>, <c>After</c> and <c>Prefix</c> of an empty span contain all keys, and
/// <c>Before</c> and <c>Through</c> contain none.
/// </para>
/// <para>To continue after the last key seen, whether or not the tree still contains it, restrict the range by that key:</para>
/// <code>
/// var page = KeyRange.Prefix("user/"u8).After(lastKey);
/// </code>
/// </remarks>
public readonly ref partial struct KeyRange
{
    private readonly KeyBound _start;
    private readonly KeyBound _end;

    private KeyRange(KeyBound start, KeyBound end)
    {
        _start = start;
        _end = end;
    }

    /// <summary>The range of all keys.</summary>
    public static KeyRange All => new(default, KeyBound.End);

    /// <summary>True if no key can be in the range, whatever the tree contains.</summary>
    public bool IsEmpty => _start.CompareTo(_end) >= 0;

    /// <summary>The place before the first key.</summary>
    internal KeyBound Start => _start;

    /// <summary>The place after the last key. It may be before <see cref="Start"/>.</summary>
    internal KeyBound End => _end;

    /// <summary>Returns the range of the keys that are at least <paramref name="start"/>.</summary>
    public static KeyRange From(ReadOnlySpan<byte> start) => new(KeyBound.Before(start), KeyBound.End);

    /// <summary>Returns the range of the keys above <paramref name="key"/>, which itself is not in the range.</summary>
    public static KeyRange After(ReadOnlySpan<byte> key) => new(KeyBound.After(key), KeyBound.End);

    /// <summary>Returns the range of the keys below <paramref name="end"/>, which itself is not in the range.</summary>
    public static KeyRange Before(ReadOnlySpan<byte> end) => new(default, KeyBound.Before(end));

    /// <summary>Returns the range of the keys that are at most <paramref name="last"/>.</summary>
    public static KeyRange Through(ReadOnlySpan<byte> last) => new(default, KeyBound.After(last));

    /// <summary>Returns the range of the keys that begin with <paramref name="prefix"/>.</summary>
    public static KeyRange Prefix(ReadOnlySpan<byte> prefix) => new(KeyBound.Before(prefix), KeyBound.AfterPrefix(prefix));

    /// <summary>
    /// Returns the range of the keys above all those that begin with <paramref name="prefix"/>, for example to skip to the next group.
    /// </summary>
    public static KeyRange AfterPrefix(ReadOnlySpan<byte> prefix) => new(KeyBound.AfterPrefix(prefix), KeyBound.End);

    /// <summary>Returns the range of the keys up to the last one that begins with <paramref name="prefix"/>.</summary>
    internal static KeyRange ThroughPrefix(ReadOnlySpan<byte> prefix) => new(default, KeyBound.AfterPrefix(prefix));

    /// <summary>Returns the range of the keys that are in both ranges.</summary>
    public KeyRange Intersect(KeyRange other) => new(
        _start.CompareTo(other._start) >= 0 ? _start : other._start,
        _end.CompareTo(other._end) <= 0 ? _end : other._end);

    /// <summary>Returns true if the key is in the range. The empty key, which no tree contains, is in no range.</summary>
    public bool Contains(scoped ReadOnlySpan<byte> key) => !_start.IsAfter(key) && _end.IsAfter(key);
}
