namespace Voron.Tables;

/// <summary>Writes the rows of a table as fields, and reads them back.</summary>
/// <remarks>
/// <para>
/// A codec reads the fields in the order in which it writes them. Rows keep the version of the definition with which they were written: after a
/// change of the definition, <see cref="RowReader.Version"/> shows which fields a row has. New fields are best added at the end, where
/// <see cref="RowReader.HasMoreFixed"/> and <see cref="RowReader.HasMoreVariable"/> show that an older row lacks them.
/// </para>
/// <para>
/// A codec is used by many threads at the same time. It may throw: the change of the row is then not made, and the transaction continues.
/// <see cref="RowCodec"/> has a codec for rows that are JSON documents.
/// </para>
/// <example>
/// <code>
/// sealed class OrderCodec : IRowCodec&lt;Order&gt;
/// {
///     public void Write(in Order row, ref RowWriter writer)
///     {
///         writer.WriteInt64(row.Number);
///         writer.WriteDecimal(row.Total);
///         writer.WriteString(row.Customer);
///     }
///
///     public Order Read(ref RowReader reader) => new(reader.ReadInt64(), reader.ReadDecimal(), reader.ReadString());
/// }
/// </code>
/// </example>
/// </remarks>
/// <typeparam name="TRow">The type of the rows.</typeparam>
public interface IRowCodec<TRow>
{
    /// <summary>Writes the fields of a row.</summary>
    /// <param name="row">The row.</param>
    /// <param name="writer">A writer without any field.</param>
    void Write(in TRow row, ref RowWriter writer);

    /// <summary>Reads a row.</summary>
    /// <param name="reader">A reader before the first field. Its spans are part of the row, and must not be kept.</param>
    /// <exception cref="RowFormatException">The row does not have the fields that are read.</exception>
    TRow Read(ref RowReader reader);
}
