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
        return WithRange(same) with
        {
            Index = best.Path,
            Rest = query.Filter,
            Sorts = query.Order != null && query.Order.Text != best.Path.Text,
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

    // Bounds belong to the part: a text is cut in the index, so that a longer one may have the key of the bound.
    private static QueryPlan WithRange(List<ComparisonFilter> parts)
    {
        var plan = new QueryPlan();
        foreach (var part in parts)
        {
            var key = KeyOf(part);
            plan = part.Comparison switch
            {
                Comparison.Equal or Comparison.StartsWith => plan with { Prefix = Longer(plan.Prefix, key) },
                Comparison.Greater or Comparison.AtLeast => plan with { Prefix = Longer(plan.Prefix, TypeOf(part)), First = Later(plan.First, key) },
                _ => plan with { Prefix = Longer(plan.Prefix, TypeOf(part)), Last = Earlier(plan.Last, key) },
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

    private static byte[] Later(byte[]? left, byte[] right) => left == null || left.AsSpan().SequenceCompareTo(right) < 0 ? right : left;

    private static byte[] Earlier(byte[]? left, byte[] right) => left == null || left.AsSpan().SequenceCompareTo(right) > 0 ? right : left;
}
