namespace Voron.Documents;

/// <summary>A query: which documents, in which order, and how many.</summary>
/// <example>
/// <code>
/// section = "games" and size > 5000 order by size desc take 20
/// </code>
/// </example>
public sealed class Query
{
    internal Query(Filter? filter, JsonPath? order, bool isDescending, long take)
    {
        Filter = filter;
        Order = order;
        IsDescending = isDescending;
        Take = take;
    }

    internal Filter? Filter { get; }

    internal JsonPath? Order { get; }

    internal bool IsDescending { get; }

    /// <summary>The number of documents at most; <see cref="long.MaxValue"/> for all.</summary>
    public long Take { get; }

    /// <summary>Reads a query.</summary>
    /// <remarks>
    /// <code>
    /// query      = [ condition ] [ "order by" path [ "desc" ] ] [ "take" number ]
    /// condition  = conjunction { "or" conjunction }
    /// conjunction= term { "and" term }
    /// term       = "not" term | "(" condition ")" | path sign value | path "starts with" text
    /// sign       = "=" | "!=" | "&lt;" | "&lt;=" | "&gt;" | "&gt;="
    /// value      = number | "text" | 'text' | true | false | null
    /// </code>
    /// </remarks>
    /// <exception cref="QueryException">The text is no query: the message says where.</exception>
    public static Query Parse(string text) => new QueryParser(text).Parse();

    /// <summary>Returns the same query for the first documents only.</summary>
    public Query First(long count) => new(Filter, Order, IsDescending, Math.Min(Take, count));

    /// <summary>Returns the query as text, which <see cref="Parse"/> reads.</summary>
    public override string ToString()
    {
        var parts = new List<string>();
        if (Filter != null)
            parts.Add($"{Filter}");
        if (Order != null)
            parts.Add($"order by {Order}{(IsDescending ? " desc" : "")}");
        if (Take != long.MaxValue)
            parts.Add($"take {Take}");
        return string.Join(' ', parts);
    }
}
