using Voron.Tables;

namespace Voron.Torture.Tables;

/// <summary>A query that is read page by page, with anything between the pages.</summary>
/// <param name="index">The index; null for all rows.</param>
/// <param name="range">The keys.</param>
/// <param name="isBackward">True to begin at the end.</param>
/// <param name="rows">The rows of a page.</param>
internal sealed class PagedQuery(TableIndex? index, ModelRange range, bool isBackward, int rows)
{
    public TableIndex? Index => index;

    public ModelRange Range => range;

    public bool IsBackward => isBackward;

    public int Rows => rows;

    /// <summary>Where the last page ended.</summary>
    public string Token { get; set; } = "";

    public bool IsOver { get; set; }

    /// <summary>Returns whether a token of the other query is one of this query too.</summary>
    public bool HasOrderOf(PagedQuery other) => Index?.Name == other.Index?.Name && IsBackward == other.IsBackward;

    /// <summary>Sets where a query begins and ends.</summary>
    public static RowQuery<TableRow> Place(RowQuery<TableRow> query, bool isBackward, PageToken after, int most)
    {
        if (isBackward)
            query = query.Backward();
        query = query.After(after);
        query = query.Take(most);
        return query;
    }

    public override string ToString() =>
        $"{rows} rows of {(index == null ? "all" : $"'{index}' {range}")}{(isBackward ? " backwards" : "")} after '{Token}'";
}
