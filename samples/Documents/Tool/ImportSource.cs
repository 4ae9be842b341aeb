namespace Voron.Documents.Tool;

/// <summary>A document on its way into a store.</summary>
/// <param name="Place">Where it occurs in its source, for messages.</param>
/// <param name="Id">Its id; null to take its property <c>id</c>.</param>
/// <param name="Json">The JSON.</param>
/// <param name="Fault">Why it is no document; null if its source has found no fault.</param>
internal readonly record struct ImportedDocument(string Place, string? Id, ReadOnlyMemory<byte> Json, string? Fault = null);

/// <summary>A source of documents.</summary>
/// <param name="Name">What it is, for messages.</param>
/// <param name="Size">The number of bytes or documents that it has; null if that is not known.</param>
/// <param name="Read">Reads the documents, and tells how much of the size has been read.</param>
internal sealed record ImportSource(string Name, long? Size, ReadDocuments Read)
{
    /// <summary>The length of a document at most, so that a file that is no list of documents does not fill the memory.</summary>
    public const int MaxDocumentBytes = 128 << 20;

    /// <summary>Returns the length of a file.</summary>
    /// <exception cref="ImportException">It is a directory.</exception>
    public static long LengthOf(string file) => Directory.Exists(file)
        ? throw new ImportException($"'{file}' is a directory. Name a file.")
        : new FileInfo(file).Length;
}

/// <summary>Reads the documents of a source.</summary>
/// <param name="progress">Receives how much has been read.</param>
/// <param name="stop">Cancels a read that waits.</param>
internal delegate IEnumerable<ImportedDocument> ReadDocuments(Action<long> progress, CancellationToken stop);
