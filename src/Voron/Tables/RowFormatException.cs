namespace Voron.Tables;

/// <summary>
/// A row lacks the fields that are read, was written with a newer version of its definition, or is damaged; or a codec failed to write the row.
/// </summary>
/// <remarks>
/// The usual cause is a codec that reads other fields than it wrote, or reads them in another order. Pages have checksums, so file damage causes a
/// <see cref="CorruptionException"/> long before it reaches a codec.
/// </remarks>
public sealed class RowFormatException : TableException
{
    private RowFormatException(string table, string message, long? rowId, Exception? cause)
        : base(table, message, cause) => RowId = rowId;

    /// <summary>The id of the row; null for a row that was to be written.</summary>
    public long? RowId { get; }

    /// <summary>Reports a row that cannot be read.</summary>
    /// <param name="table">The name of the table.</param>
    /// <param name="rowId">The row.</param>
    /// <param name="problem">The problem: the end of a sentence, without its full stop.</param>
    /// <param name="cause">The exception of the codec.</param>
    internal static RowFormatException OnRead(string table, long rowId, string problem, Exception? cause = null) =>
        new(table, $"Row {rowId} of the table '{table}' cannot be read: {problem}.", rowId, cause);

    /// <summary>Reports a row that the codec has failed to write.</summary>
    internal static RowFormatException OnWrite(string table, Exception cause) =>
        new(table, $"A row of the table '{table}' cannot be written: the codec failed. {cause.Message} No part of the row was written.", null, cause);
}
