namespace Voron.Documents.Tool;

/// <summary>A document on its way into a store.</summary>
/// <param name="Place">Where it stands in its source, for messages.</param>
/// <param name="Id">Its id; null to take its property <c>id</c>.</param>
/// <param name="Json">The JSON.</param>
internal readonly record struct ImportedDocument(string Place, string? Id, ReadOnlyMemory<byte> Json);

/// <summary>A source of documents.</summary>
/// <param name="Name">What it is, for messages.</param>
/// <param name="Bytes">The number of bytes that it has; null if that is not known.</param>
/// <param name="Read">Reads the documents, and tells how many bytes have been read.</param>
internal sealed record ImportSource(string Name, long? Bytes, Func<Action<long>, IEnumerable<ImportedDocument>> Read);
