using System.Text.Json;
using Voron.Documents.Scanning;
using Voron.Documents.Text;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>The table, the indexes and the text index that follow from the settings of a collection. It never changes; new settings make a new one.</summary>
internal sealed class CollectionShape
{
    /// <summary>The index of ids.</summary>
    public const string IdIndex = "id";

    /// <param name="settings">The settings.</param>
    /// <param name="time">The clock that says which documents are due.</param>
    public CollectionShape(CollectionSettings settings, TimeProvider time)
    {
        Settings = settings;
        var paths = settings.Indexes.Select(JsonPath.Parse).ToList();
        var texts = settings.Text?.Fields.Select(JsonPath.Parse).ToList() ?? [];
        Scanner = new DocumentScanner(paths, texts);
        Text = settings.Text == null ? null : new TextIndex(settings.Name, settings.Text, new DocumentScanner([], texts));
        Expiry = settings.ExpiryPath == null ? null : new Expiry(JsonPath.Parse(settings.ExpiryPath), time);
        Definition = Define(settings, Expiry, paths);
    }

    public CollectionSettings Settings { get; }

    public TableDefinition<long, Document> Definition { get; }

    /// <summary>Finds what the indexes need.</summary>
    public DocumentScanner Scanner { get; }

    /// <summary>The text index; null if there is none.</summary>
    public TextIndex? Text { get; }

    /// <summary>The times at which documents end; null if they do not.</summary>
    public Expiry? Expiry { get; }

    /// <summary>Returns whether the time of a document is over.</summary>
    public bool IsDue(in Document document) => Expiry is { } expiry && expiry.IsDue(document.Json.Span, expiry.Now);

    /// <summary>Deletes the row of a document, its words and its attachments.</summary>
    public void Delete(WriteTransaction writing, WriteTable<long, Document> table, in Document document)
    {
        table.Delete(document.Number);
        Text?.Remove(writing, document);
        Collection.DeleteAttachments(writing, Settings.Name, document.Number);
    }

    /// <summary>Returns the indexes that have all documents of a snapshot.</summary>
    public IReadOnlyList<string> ReadyIndexes(Table<long, Document> table)
    {
        foreach (var index in Settings.Indexes)
        {
            if (table.GetIndexState(index) != IndexState.Ready)
                return [.. Settings.Indexes.Where(ready => table.GetIndexState(ready) == IndexState.Ready)];
        }

        return Settings.Indexes;
    }

    private static TableDefinition<long, Document> Define(CollectionSettings settings, Expiry? expiry, List<JsonPath> paths)
    {
        var definition = TableDefinition
            .CreateWithRowIds(settings.Name, settings.Version, new DocumentCodec(), static document => document.Number)
            .CompressRows(settings.Compression)
            .UniqueIndex(IdIndex, 1, static (in Document document, ref IndexKeys keys) => keys.Add(document.Id));
        if (expiry != null)
            definition = definition.Index(expiry.IndexName, 1, expiry.AddKey);
        for (var i = 0; i < paths.Count; i++)
        {
            var (path, index) = (paths[i], i);
            definition = definition.Index(path.Text, 1, (in Document document, ref IndexKeys keys) =>
            {
                if (document.Batch is { } batch)
                    batch.WriteKeys(document.Place, index, ref keys);
                else
                    AddKeys(path, document, ref keys);
            });
        }

        return definition;
    }

    // The keys of a stored document.
    private static void AddKeys(JsonPath path, in Document document, ref IndexKeys keys)
    {
        var count = path.Visit(
            document.Json.Span, ref keys, static (ref Utf8JsonReader value, ref IndexKeys keys) => ValueKey.Write(ref value, ref keys.Begin()));
        if (count == 0)
            ValueKey.WriteMissing(ref keys.Begin());
    }
}
