namespace Voron.Tables;

/// <summary>A row does not have the fields that are read, was written with a newer version of its definition, or is damaged.</summary>
/// <remarks>
/// The usual cause is a codec that reads other fields than it wrote, or reads them in another order. Pages have checksums, so damage to the files
/// is a <see cref="CorruptionException"/> long before it reaches a codec.
/// </remarks>
public sealed class RowFormatException : TableException
{
    internal RowFormatException(string tableName, long rowId, string problem, Exception? cause = null)
        : base(tableName, $"Row {rowId} of the table '{tableName}' cannot be read: {problem}.", cause)
        => RowId = rowId;

    /// <summary>The id of the row.</summary>
    public long RowId { get; }
}
