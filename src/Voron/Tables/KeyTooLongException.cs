namespace Voron.Tables;

/// <summary>
/// A table key exceeds the maximum key length: the key of a row to be written, no part of which was written, or the key of a lookup. A service
/// reports it as a bad request: a field is too long.
/// </summary>
public sealed class KeyTooLongException : TableException
{
    internal KeyTooLongException(string table, string index, int maxKeyLength, long? rowId = null)
        : base(table, Describe(table, index, maxKeyLength, rowId))
    {
        IndexName = index;
        MaxKeyLength = maxKeyLength;
        RowId = rowId;
    }

    /// <summary>The name of the index; empty for the primary key.</summary>
    public string IndexName { get; }

    /// <summary>The maximum length of a key in bytes: <see cref="StorageEnvironment.MaxKeyLength"/>.</summary>
    public int MaxKeyLength { get; }

    /// <summary>The id of the row to be changed; null for an insert or a lookup.</summary>
    public long? RowId { get; }

    private static string Describe(string table, string index, int maxKeyLength, long? rowId)
    {
        var key = index.Length == 0 ? "the primary key" : $"the index '{index}'";
        var row = rowId is { } id ? $" for row {id}" : "";
        return $"A key of {key} of table '{table}'{row} is longer than {maxKeyLength} bytes, the limit of this environment. " +
            "No part of a row was written. Omit or shorten a field.";
    }
}
