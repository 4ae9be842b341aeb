using System.Text.Json;

namespace Voron.Documents;

/// <summary>A condition on documents.</summary>
internal abstract class Filter
{
    public abstract bool Matches(ReadOnlySpan<byte> json);
}

internal enum Comparison
{
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    StartsWith,
}

/// <summary>
/// Compares the values that a path leads to with a value. It is met if one of the values meets it; <c>!=</c> is met if none of them is equal. Values of
/// different types are neither less nor greater.
/// </summary>
internal sealed class ComparisonFilter(JsonPath path, Comparison comparison, QueryValue value) : Filter
{
    public JsonPath Path => path;

    public Comparison Comparison => comparison;

    public QueryValue Value => value;

    public override bool Matches(ReadOnlySpan<byte> json)
    {
        var state = new State(this);
        path.Visit(json, ref state, static (ref Utf8JsonReader reader, ref State state) => state.IsMet |= state.Filter.IsMetBy(ref reader));
        return state.IsMet != (comparison == Comparison.NotEqual);
    }

    public override string ToString() => $"{path} {Sign} {value}";

    private string Sign => comparison switch
    {
        Comparison.Equal => "=",
        Comparison.NotEqual => "!=",
        Comparison.Less => "<",
        Comparison.AtMost => "<=",
        Comparison.Greater => ">",
        Comparison.AtLeast => ">=",
        _ => "starts with",
    };

    // Of !=, the opposite.
    private bool IsMetBy(ref Utf8JsonReader reader)
    {
        if (comparison == Comparison.StartsWith)
            return value.IsPrefixOf(ref reader);
        return value.Compare(ref reader) is { } order && comparison switch
        {
            Comparison.Less => order < 0,
            Comparison.AtMost => order <= 0,
            Comparison.Greater => order > 0,
            Comparison.AtLeast => order >= 0,
            _ => order == 0,
        };
    }

    private struct State(ComparisonFilter filter)
    {
        public readonly ComparisonFilter Filter => filter;

        public bool IsMet { get; set; }
    }
}

internal sealed class AndFilter(IReadOnlyList<Filter> parts) : Filter
{
    public IReadOnlyList<Filter> Parts => parts;

    public override bool Matches(ReadOnlySpan<byte> json)
    {
        foreach (var part in parts)
        {
            if (!part.Matches(json))
                return false;
        }

        return true;
    }

    public override string ToString() => string.Join(" and ", parts.Select(part => part is OrFilter ? $"({part})" : $"{part}"));
}

internal sealed class OrFilter(IReadOnlyList<Filter> parts) : Filter
{
    public override bool Matches(ReadOnlySpan<byte> json)
    {
        foreach (var part in parts)
        {
            if (part.Matches(json))
                return true;
        }

        return false;
    }

    public override string ToString() => string.Join(" or ", parts);
}

internal sealed class NotFilter(Filter part) : Filter
{
    public override bool Matches(ReadOnlySpan<byte> json) => !part.Matches(json);

    public override string ToString() => part is ComparisonFilter ? $"not {part}" : $"not ({part})";
}
