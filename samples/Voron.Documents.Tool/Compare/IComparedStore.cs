namespace Voron.Documents.Tool.Compare;

/// <summary>A document store that is compared with others. Each call that writes is durable when it returns.</summary>
internal interface IComparedStore : IDisposable
{
    /// <summary>The number of bytes of all files. The store is closed afterwards.</summary>
    long Close();

    /// <summary>Imports documents, 1,000 in each transaction, with four indexes and a text index.</summary>
    void Import(IReadOnlyList<ImportedDocument> documents);

    /// <summary>Stores a document in a transaction of its own. Any number of threads call it at the same time.</summary>
    void Put(ImportedDocument document);

    /// <summary>Reads a document, and returns its JSON.</summary>
    ReadOnlyMemory<byte> Get(string id);

    /// <summary>Reads the documents whose size is in a range, in the order of sizes, and returns the number of bytes of their JSON.</summary>
    (int Documents, long Bytes) GetBySize(long first, long last);

    /// <summary>Returns the scores of the ten documents that fit a search best; the documents are read.</summary>
    double[] Search(WordSearch search);
}
