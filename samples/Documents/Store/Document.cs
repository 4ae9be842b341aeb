using System.Text;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>A document of a collection.</summary>
/// <param name="Number">Its number in the collection, which no other document has had.</param>
/// <param name="Id">Its id.</param>
/// <param name="Json">The JSON as it came.</param>
public readonly record struct Document(long Number, string Id, ReadOnlyMemory<byte> Json)
{
    /// <summary>Its version, which a change may expect it to have: see <see cref="Collection.PutAsync"/>.</summary>
    public RowVersion Version { get; init; }

    /// <summary>The batch that has the values of the document for the indexes; null for a document that has been read.</summary>
    internal DocumentBatch? Batch { get; init; }

    /// <summary>The place of the document in its batch.</summary>
    internal int Place { get; init; }

    /// <summary>Returns the JSON as text.</summary>
    public override string ToString() => Encoding.UTF8.GetString(Json.Span);
}

/// <summary>Documents as rows.</summary>
internal sealed class DocumentCodec : IRowCodec<Document>
{
    public void Write(in Document row, ref RowWriter writer)
    {
        writer.WriteString(row.Id);
        writer.WriteBytes(row.Json.Span);
    }

    /// <summary>Returns the JSON of a row where it is.</summary>
    public static ReadOnlySpan<byte> JsonOf(ref RowReader reader)
    {
        reader.ReadBytes();
        return reader.ReadBytes();
    }

    public Document Read(ref RowReader reader) => new(reader.RowId, reader.ReadString(), reader.ReadBytes().ToArray());
}
