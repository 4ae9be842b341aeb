namespace Voron.Documents.Tool.Compare;

/// <summary>A document store that is compared with others. Each call that writes is durable when it returns.</summary>
internal interface IComparedStore : IDisposable
{
    /// <summary>The number of bytes of all files. The store is closed afterwards.</summary>
    long Close();

    /// <summary>Imports documents, 1,000 in each transaction, with four indexes and a text index, and brings them into the data file.</summary>
    void Import(IReadOnlyList<ImportedDocument> documents);

    /// <summary>True if a caller needs a thread of its own while it waits.</summary>
    bool NeedsThreads { get; }

    /// <summary>Stores a document. Any number of callers do so at the same time.</summary>
    ValueTask PutAsync(ImportedDocument document);

    /// <summary>Reads a document, and returns its JSON in UTF-8; nothing if there is none.</summary>
    ReadOnlyMemory<byte> Get(string id);

    /// <summary>Reads the documents whose size is in a range, in the order of sizes, and returns their JSON.</summary>
    IReadOnlyList<ReadOnlyMemory<byte>> GetBySize(long first, long last);

    /// <summary>Finds the ten documents that fit a search best, and returns their scores and their JSON.</summary>
    IReadOnlyList<(double Score, ReadOnlyMemory<byte> Json)> Search(WordSearch search);
}
