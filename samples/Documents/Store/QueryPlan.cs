using System.Text;

namespace Voron.Documents;

/// <summary>How a query is answered: which part of which index is read, the rest of the condition, and whether documents are sorted.</summary>
internal sealed record QueryPlan
{
    /// <summary>The index that is read; null to read all documents.</summary>
    public JsonPath? Index { get; init; }

    /// <summary>What all keys of the part begin with; null for all.</summary>
    public byte[]? Prefix { get; init; }

    /// <summary>The first key of the part; null for no bound.</summary>
    public byte[]? First { get; init; }

    /// <summary>The last key of the part; null for no bound.</summary>
    public byte[]? Last { get; init; }

    /// <summary>True if the key of <see cref="First"/> does not belong to the part.</summary>
    public bool IsBehindFirst { get; init; }

    /// <summary>True if the key of <see cref="Last"/> does not belong to the part.</summary>
    public bool IsBeforeLast { get; init; }

    /// <summary>What the documents that are found must meet as well.</summary>
    public Filter? Rest { get; init; }

    /// <summary>True if the documents come in another order than that of the query.</summary>
    public bool Sorts { get; init; }

    /// <summary>The part of the condition that the index answers, for people.</summary>
    public string Condition { get; init; } = "";

    /// <summary>Makes a plan.</summary>
    /// <param name="query">The query.</param>
    /// <param name="indexes">The paths that are indexed.</param>
    public static QueryPlan Make(Query query, IReadOnlyList<string> indexes)
    {
        var parts = query.Filter is AndFilter and ? and.Parts : query.Filter == null ? [] : [query.Filter];
        var best = parts.OfType<ComparisonFilter>().Where(part => ScoreOf(part) > 0 && indexes.Contains(part.Path.Text)).OrderByDescending(ScoreOf).FirstOrDefault();
        if (best == null)
        {
            var isOrdered = query.Order != null && indexes.Contains(query.Order.Text);
            return new QueryPlan { Index = isOrdered ? query.Order : null, Rest = query.Filter, Sorts = query.Order != null && !isOrdered };
        }

        // Two bounds of a path that may lead to several values can be met by different ones.
        var same = parts.OfType<ComparisonFilter>()
            .Where(part => part == best || (!best.Path.IsMultiple && part.Path.Text == best.Path.Text && part.Value.Kind == best.Value.Kind && ScoreOf(part) > 0))
            .ToList();
        var plan = WithRange(same);
        var rest = parts.Where(part => part is not ComparisonFilter comparison || !same.Contains(comparison) || !plan.Answers(comparison)).ToList();
        return plan with
        {
            Index = best.Path,
            Rest = rest.Count switch { 0 => null, 1 => rest[0], _ => new AndFilter(rest) },
            Sorts = query.Order != null && (query.Order.Text != best.Path.Text || best.Path.IsMultiple),
            Condition = string.Join(" and ", same),
        };
    }

    public override string ToString()
    {
        var text = new StringBuilder();
        if (Index == null)
            text.Append("all documents");
        else
            text.Append("index ").Append(Index).Append(Condition.Length > 0 ? $": {Condition}" : ", all of it");
        if (Rest != null)
            text.Append("; then ").Append(Rest);
        if (Sorts)
            text.Append("; sorted in memory");
        return text.ToString();
    }

    private static int ScoreOf(ComparisonFilter part) => part.Comparison switch
    {
        Comparison.Equal => 3,
        Comparison.StartsWith => 2,
        Comparison.NotEqual => 0,
        _ => 1,
    };

    // A long text is cut in the index, so that another one may have its key: then the documents are compared once more.
    private static bool IsExact(ComparisonFilter part) => part.Value.Kind != ScalarKind.Text || part.Value.Text.Length < ValueKey.MaxTextBytes;

    // Of two prefixes, the longer one is read: it need not begin with the other.
    private bool Answers(ComparisonFilter part) =>
        IsExact(part) && (part.Comparison is not (Comparison.Equal or Comparison.StartsWith) || Prefix.AsSpan().StartsWith(KeyOf(part)));

    private static QueryPlan WithRange(List<ComparisonFilter> parts)
    {
        var plan = new QueryPlan();
        foreach (var part in parts)
        {
            var key = KeyOf(part);
            plan = part.Comparison switch
            {
                Comparison.Equal or Comparison.StartsWith => plan with { Prefix = Longer(plan.Prefix, key) },
                Comparison.Greater or Comparison.AtLeast => plan.From(key, part.Comparison == Comparison.Greater && IsExact(part), TypeOf(part)),
                _ => plan.Through(key, part.Comparison == Comparison.Less && IsExact(part), TypeOf(part)),
            };
        }

        return plan;
    }

    private static byte[] KeyOf(ComparisonFilter part)
    {
        var writer = new KeyWriter(stackalloc byte[ValueKey.MaxBytes]);
        if (part.Comparison == Comparison.StartsWith)
            ValueKey.WritePrefix(part.Value.Text, ref writer);
        else
            ValueKey.Write(part.Value, ref writer);
        return writer.Written.ToArray();
    }

    private static byte[] TypeOf(ComparisonFilter part)
    {
        var writer = new KeyWriter(stackalloc byte[ValueKey.MaxBytes]);
        ValueKey.WriteType(part.Value, ref writer);
        return writer.Written.ToArray();
    }

    private static byte[] Longer(byte[]? left, byte[] right) => left == null || left.Length < right.Length ? right : left;

    private QueryPlan From(byte[] key, bool isBehind, byte[] type)
    {
        var order = First == null ? 1 : key.AsSpan().SequenceCompareTo(First);
        return this with { Prefix = Longer(Prefix, type), First = order > 0 ? key : First, IsBehindFirst = order > 0 ? isBehind : IsBehindFirst || (order == 0 && isBehind) };
    }

    private QueryPlan Through(byte[] key, bool isBefore, byte[] type)
    {
        var order = Last == null ? -1 : key.AsSpan().SequenceCompareTo(Last);
        return this with { Prefix = Longer(Prefix, type), Last = order < 0 ? key : Last, IsBeforeLast = order < 0 ? isBefore : IsBeforeLast || (order == 0 && isBefore) };
    }
}
