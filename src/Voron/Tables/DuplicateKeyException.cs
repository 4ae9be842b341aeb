namespace Voron.Tables;

/// <summary>Another row already has the key. No part of the row was written, and the transaction continues.</summary>
public sealed class DuplicateKeyException : TableException
{
    private readonly byte[] _key;

    internal DuplicateKeyException(string table, string index, ReadOnlySpan<byte> key, long? rowId, long existingRowId, Type? keyType = null)
        : base(table, Describe(table, index, IndexField.Describe(keyType, key), rowId, existingRowId))
    {
        IndexName = index;
        _key = key.ToArray();
        RowId = rowId;
        ExistingRowId = existingRowId;
    }

    /// <summary>The name of the unique index; empty for the primary key.</summary>
    public string IndexName { get; }

    /// <summary>The bytes of the key as the index stores them.</summary>
    public ReadOnlyMemory<byte> Key => _key;

    /// <summary>The id of the refused row; null for an insert.</summary>
    public long? RowId { get; }

    /// <summary>The id of the row that has the key.</summary>
    public long ExistingRowId { get; }

    private static string Describe(string table, string index, string key, long? rowId, long existing)
    {
        var what = index.Length == 0 ? "the primary key" : $"the unique index '{index}'";
        var row = rowId is { } id ? $"Row {id}" : "A new row";
        var rest = rowId == null ? "No part of the row was written." : "The row remains unchanged.";
        return $"{row} of table '{table}' duplicates a key of {what} that row {existing} has already: {key}. {rest}";
    }
}
