namespace Voron.Tables;

/// <summary>Writes the rows of a table as fields, and reads them back.</summary>
/// <remarks>
/// <para>
/// A codec reads the fields in the order in which it writes them. Each row stores the definition version with which it was written: after a change of
/// the definition, <see cref="RowReader.Version"/> shows which fields a row has. Add new fields at the end, where
/// <see cref="RowReader.HasMoreFixed"/> and <see cref="RowReader.HasMoreVariable"/> show that an older row lacks them.
/// </para>
/// <para>
/// Many threads use a codec concurrently. If it throws, the row is not changed, and the transaction continues. <see cref="RowCodec"/> provides a
/// codec that stores rows as JSON documents.
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
    /// <param name="writer">An empty writer.</param>
    void Write(in TRow row, ref RowWriter writer);

    /// <summary>Reads a row.</summary>
    /// <param name="reader">A reader positioned before the first field. Its spans point into the row, and must not be kept.</param>
    /// <exception cref="RowFormatException">The row does not contain the fields that are read.</exception>
    TRow Read(ref RowReader reader);
}
