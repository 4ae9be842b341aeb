namespace Voron.Tables;

/// <summary>
/// The keys of a row could not be computed: the function of an index threw, or returned an empty key. No part of the row was written, and the
/// transaction continues.
/// </summary>
public sealed class IndexKeyException : TableException
{
    internal IndexKeyException(string table, string index, long? rowId, Exception cause)
        : base(table, Describe(table, index, rowId, cause), cause)
    {
        IndexName = index;
        RowId = rowId;
    }

    /// <summary>The name of the index; empty for the primary key.</summary>
    public string IndexName { get; }

    /// <summary>The id of the row; null for an insert.</summary>
    public long? RowId { get; }

    // Some runtime exceptions put the value on a second line.
    private static string OnOneLine(string message) => message.ReplaceLineEndings(" ");

    private static string Describe(string table, string index, long? rowId, Exception cause)
    {
        var what = index.Length == 0 ? "the primary key" : $"the index '{index}'";
        var row = rowId is { } id ? $"row {id}" : "a new row";
        var rest = rowId == null ? "No part of the row was written." : "The row remains unchanged.";
        return $"The keys of {what} of table '{table}' could not be computed for {row}: {OnOneLine(cause.Message)} {rest}";
    }
}
