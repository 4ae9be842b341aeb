namespace Voron.Tables;

/// <summary>
/// The keys of a row could not be computed: the function of an index threw, or returned a key that is empty. Nothing of the row was written, and the
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

    /// <summary>The id of the row; null for one that was to be inserted.</summary>
    public long? RowId { get; }

    // Some exceptions of the runtime have a second line for the value.
    private static string OnOneLine(string message) => message.ReplaceLineEndings(" ");

    private static string Describe(string table, string index, long? rowId, Exception cause)
    {
        var what = index.Length == 0 ? "the primary key" : $"the index '{index}'";
        var row = rowId is { } id ? $"row {id}" : "a new row";
        var rest = rowId == null ? "Nothing of the row was written." : "The row stays as it was.";
        return $"The keys of {what} of table '{table}' could not be computed for {row}: {OnOneLine(cause.Message)} {rest}";
    }
}
