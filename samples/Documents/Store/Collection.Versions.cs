using Voron.Tables;

namespace Voron.Documents;

public sealed partial class Collection
{
    /// <summary>Stores a document if the one with the same id has the version that the caller expects.</summary>
    /// <param name="json">A JSON object.</param>
    /// <param name="id">The id; null to take the property <c>id</c> of the document.</param>
    /// <param name="expected">The version; <see cref="RowVersion.None"/> if there is to be no document of that id; null for any.</param>
    /// <param name="cancellationToken">Cancels the call while it waits for its turn.</param>
    /// <exception cref="DocumentFormatException">The text is no JSON object, or has no id.</exception>
    /// <exception cref="DocumentConflictException">The document has another version.</exception>
    public async ValueTask<StoredDocument> PutAsync(
        ReadOnlyMemory<byte> json, string? id = null, RowVersion? expected = null, CancellationToken cancellationToken = default)
    {
        var batch = TakeSpareBatch();
        try
        {
            batch.Add(json, id);
            return await WriteAsync(
                (Collection: this, batch, expected),
                static (writing, shape, put) => put.Collection.Put(writing, shape, put.batch, put.expected),
                cancellationToken).ConfigureAwait(false);
        }
        finally
        {
            GiveBack(batch);
        }
    }

    /// <summary>Deletes a document and its attachments; false when there is none of that id, and none was expected to be.</summary>
    /// <param name="id">The id.</param>
    /// <param name="expected">The version that it has; null for any.</param>
    /// <param name="cancellationToken">Cancels the call while it waits for its turn.</param>
    /// <exception cref="DocumentConflictException">The document has another version.</exception>
    public async ValueTask<bool> DeleteAsync(string id, RowVersion? expected = null, CancellationToken cancellationToken = default) =>
        await WriteAsync(
            (Collection: this, id, expected),
            static (writing, shape, delete) => delete.Collection.Delete(writing, shape, delete.id, delete.expected),
            cancellationToken).ConfigureAwait(false);

    private StoredDocument Put(WriteTransaction writing, CollectionShape shape, DocumentBatch batch, RowVersion? expected)
    {
        var id = batch[0].Id;
        if (expected != null)
        {
            var found = TryGet(writing.OpenTable(shape.Definition).AsReadOnly(), id, out var old);
            Expect(id, expected, found ? old.Version : RowVersion.None, isDeletion: false);
        }

        var (version, isNew, _) = new BatchWriter(shape, batch, _name).Write(writing);
        return new StoredDocument(id, version, isNew);
    }

    private bool Delete(WriteTransaction writing, CollectionShape shape, string id, RowVersion? expected)
    {
        var table = writing.OpenTable(shape.Definition);
        var found = TryGet(table.AsReadOnly(), id, out var document);
        Expect(id, expected, found ? document.Version : RowVersion.None, isDeletion: true);
        if (found)
            shape.Delete(writing, table, document);
        return found;
    }

    private bool TryGet(in Table<long, Document> table, string id, out Document document) =>
        TryFind(table, id, out document) && !Shape.IsDue(document);

    // Also one that is due.
    private static bool TryFind(in Table<long, Document> table, string id, out Document document)
    {
        if (!table.TryGetByRaw(CollectionShape.IdIndex, DocumentId.KeyOf(id, stackalloc byte[DocumentId.MaxKeyBytes]), out document))
            return false;
        table.TryGetVersion(document.Number, out var version);
        document = document with { Version = version };
        return true;
    }

    private static void Expect(string id, RowVersion? expected, RowVersion actual, bool isDeletion)
    {
        if (expected is { } version && version != actual)
            throw new DocumentConflictException(id, version, actual, isDeletion);
    }
}
