using System.Diagnostics.CodeAnalysis;

namespace Voron.Tables;

/// <summary>Makes index key ranges from values, such as <c>IndexRange.From(100).Before(200)</c> or <c>IndexRange.Prefix("lib")</c>.</summary>
/// <remarks>
/// A value stands for all keys whose fields begin with its own: in an index of two fields, <c>Through("bash")</c> includes each key whose first
/// field is <c>"bash"</c>, and <c>After("bash")</c> none of them.
/// </remarks>
public static class IndexRange
{
    /// <summary>Returns the range of the keys that are at least the value.</summary>
    public static IndexRange<T> From<T>(T first) => IndexRange<T>.All.From(first);

    /// <summary>Returns the range of the keys above the value.</summary>
    public static IndexRange<T> After<T>(T value) => IndexRange<T>.All.After(value);

    /// <summary>Returns the range of the keys below the value.</summary>
    public static IndexRange<T> Before<T>(T end) => IndexRange<T>.All.Before(end);

    /// <summary>Returns the range of the keys that are at most the value.</summary>
    public static IndexRange<T> Through<T>(T last) => IndexRange<T>.All.Through(last);

    /// <summary>
    /// Returns the range of the keys whose text begins with a prefix; if the value has several fields, its last field is the prefix.
    /// </summary>
    public static IndexRange<T> Prefix<T>(T prefix) => IndexRange<T>.OfPrefix(prefix);
}

/// <summary>A range of index keys, bounded by values. <see cref="IndexRange"/> makes one; the default contains all keys.</summary>
/// <typeparam name="T">The type of the values: see <see cref="Table{TKey, TRow}.From{TIndexKey}(string, TIndexKey)"/>.</typeparam>
[SuppressMessage("Design", "CA1000", Justification = "All has no argument from which the type could be inferred.")]
public readonly record struct IndexRange<T>
{
    private readonly T _start;
    private readonly T _end;
    private readonly Bound _startKind;
    private readonly Bound _endKind;

    private IndexRange((Bound Kind, T Value) start, (Bound Kind, T Value) end)
    {
        (_startKind, _start) = start;
        (_endKind, _end) = end;
    }

    private enum Bound : byte
    {
        None,
        Before,
        After,
        Prefix,
    }

    /// <summary>The range of all keys.</summary>
    public static IndexRange<T> All => default;

    /// <summary>Returns the range with another start: keys that are at least the value.</summary>
    public IndexRange<T> From(T first) => new((Bound.Before, first), (_endKind, _end));

    /// <summary>Returns the range with another start: keys above the value.</summary>
    public IndexRange<T> After(T value) => new((Bound.After, value), (_endKind, _end));

    /// <summary>Returns the range with another end: keys below the value.</summary>
    public IndexRange<T> Before(T end) => new((_startKind, _start), (Bound.Before, end));

    /// <summary>Returns the range with another end: keys that are at most the value.</summary>
    public IndexRange<T> Through(T last) => new((_startKind, _start), (Bound.After, last));

    internal static IndexRange<T> OfPrefix(T prefix) => new((Bound.Prefix, prefix), (Bound.Prefix, prefix));

    /// <summary>Returns the range in bytes.</summary>
    /// <param name="encode">Returns the bytes of a value; if the flag is true, those of the beginning of a text.</param>
    /// <param name="isWhole">True if the bytes of a value are a whole key, and not its first fields.</param>
    internal KeyRange Encode(Func<T, bool, byte[]> encode, bool isWhole)
    {
        var start = _startKind == Bound.None ? [] : encode(_start, _startKind == Bound.Prefix);
        var from = _startKind switch
        {
            Bound.None => KeyRange.All,
            Bound.After when isWhole => KeyRange.After(start),
            Bound.After => KeyRange.AfterPrefix(start),
            _ => KeyRange.From(start),
        };
        var end = _endKind == Bound.None ? [] : encode(_end, _endKind == Bound.Prefix);
        return from.Intersect(_endKind switch
        {
            Bound.None => KeyRange.All,
            Bound.Before => KeyRange.Before(end),
            Bound.After when isWhole => KeyRange.Through(end),
            _ => KeyRange.ThroughPrefix(end),
        });
    }
}
