namespace Voron.Documents.Tool.Compare;

/// <summary>The store of the library.</summary>
internal sealed class VoronStore : IComparedStore
{
    private const int DocumentsPerCommit = 1000;

    private readonly string _directory;
    private readonly DocumentStore _store;
    private readonly Collection _collection;

    private VoronStore(string directory, DocumentStore store, Collection collection)
    {
        _directory = directory;
        _store = store;
        _collection = collection;
    }

    public bool NeedsThreads => false;

    public static async Task<VoronStore> CreateAsync(string directory, ValueCompression compression, CancellationToken stop)
    {
        var store = DocumentStore.Open(directory);
        var collection = await store.CreateCollectionAsync("documents", stop);
        foreach (var path in Workload.Indexes)
            await store.AddIndexAsync("documents", path, progress: null, stop);
        await store.SetTextIndexAsync("documents", Workload.Texts, progress: null, stop);
        await store.SetCompressionAsync("documents", compression, stop);
        return new VoronStore(directory, store, collection);
    }

    public void Import(IReadOnlyList<ImportedDocument> documents)
    {
        var source = new ImportSource("memory", null, (_, _) => documents);
        new Importer(_collection, source, skipsBad: false, documentsPerCommit: DocumentsPerCommit).Run(static _ => { }, CancellationToken.None);
        _store.Environment.Flush();
    }

    public async ValueTask PutAsync(ImportedDocument document) => await _collection.PutAsync(document.Json, document.Id);

    public ReadOnlyMemory<byte> Get(string id) => _collection.TryGet(id, out var document) ? document.Json : default;

    public IReadOnlyList<ReadOnlyMemory<byte>> GetBySize(long first, long last) =>
        [.. _collection.Find(Query.Parse($"size >= {first} and size <= {last} order by size")).Documents.Select(static document => document.Json)];

    public IReadOnlyList<(double Score, ReadOnlyMemory<byte> Json)> Search(WordSearch search)
    {
        var text = search.Kind switch
        {
            WordSearchKind.Any => string.Join(" or ", search.Words),
            WordSearchKind.Phrase => $"\"{string.Join(' ', search.Words)}\"",
            _ => string.Join(' ', search.Words),
        };
        return [.. _collection.Search(text).Hits.Select(static hit => (hit.Score, hit.Document.Json))];
    }

    public long Close()
    {
        _store.Dispose();
        return new DirectoryInfo(_directory).EnumerateFiles().Sum(static file => file.Length);
    }

    public void Dispose() => _store.Dispose();
}
