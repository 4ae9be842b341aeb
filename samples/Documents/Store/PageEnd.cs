using System.Security.Cryptography;
using System.Text;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>The end of a page as a text: the place, and a mark of the query and of the index in whose order it is.</summary>
internal static class PageEnd
{
    private const char Separator = '.';
    private const int MarkBytes = 4;

    public static string ToText(Query query, QueryPlan plan, PageToken place) => $"{MarkOf(query, plan)}{Separator}{place}";

    /// <exception cref="QueryException">The text is no end of a page of the query, or an index has come or gone since then.</exception>
    public static PageToken Parse(string text, Query query, QueryPlan plan)
    {
        var parts = text.Split(Separator, 2);
        if (parts.Length < 2 || !PageToken.TryParse(parts[1], out var place))
            throw new QueryException($"'{text}' is not the end of a page. Use the one that the page before has.");
        return parts[0] == MarkOf(query, plan)
            ? place
            : throw new QueryException($"'{text}' is the end of a page of another query, or the query uses another index by now. Begin with the first page.");
    }

    private static string MarkOf(Query query, QueryPlan plan)
    {
        var text = $"{query.Filter}\n{query.Order}\n{query.IsDescending}\n{plan.Index}";
        return Convert.ToHexString(SHA256.HashData(Encoding.UTF8.GetBytes(text)), 0, MarkBytes);
    }
}
