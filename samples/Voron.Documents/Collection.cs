using System.Diagnostics.CodeAnalysis;
using System.Text;
using System.Text.Json;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>A collection of documents, each found by its id, and by the indexes of the collection.</summary>
/// <remarks>Each call is a transaction of its own. Writes are durable when they return, and those of several callers share commits.</remarks>
[SuppressMessage("Naming", "CA1711", Justification = "Users of document stores call it so.")]
public sealed class Collection
{
    internal const string NumbersTree = "documents/numbers";

    private const string IdIndex = "id";
    private const int MaxIdBytes = 200;
    private const int MaxIdKeyBytes = 2 * MaxIdBytes + 2;

    private readonly StorageEnvironment _environment;
    private readonly byte[] _name;

    internal Collection(StorageEnvironment environment, CollectionSettings settings)
    {
        _environment = environment;
        _name = Encoding.UTF8.GetBytes(settings.Name);
        Settings = settings;
        Definition = Define(settings);
    }

    /// <summary>The settings of the collection.</summary>
    public CollectionSettings Settings { get; }

    internal TableDefinition<long, Document> Definition { get; }

    /// <summary>The number of documents.</summary>
    public long Count
    {
        get
        {
            using var reading = _environment.BeginRead();
            return reading.OpenTable(Definition).Count;
        }
    }

    /// <summary>Stores a document, in place of the one with the same id if there is one.</summary>
    /// <param name="json">A JSON object.</param>
    /// <param name="id">The id; null to take the property <c>id</c> of the document.</param>
    /// <returns>The id.</returns>
    /// <exception cref="DocumentFormatException">The text is no JSON object, or has no id.</exception>
    public string Put(ReadOnlyMemory<byte> json, string? id = null)
    {
        id = IdOf(json.Span, id);
        _environment.Write(writing => Put(writing, json, id));
        return id;
    }

    /// <summary>Stores documents in one transaction: all of them, or none.</summary>
    /// <param name="documents">The documents, with their ids; a null id is the property <c>id</c>.</param>
    /// <exception cref="DocumentFormatException">One is no JSON object, or has no id.</exception>
    public void PutMany(IReadOnlyList<(string? Id, ReadOnlyMemory<byte> Json)> documents)
    {
        ArgumentNullException.ThrowIfNull(documents);
        var ids = documents.Select(document => IdOf(document.Json.Span, document.Id)).ToList();
        using var writing = _environment.BeginWrite();
        for (var i = 0; i < documents.Count; i++)
            Put(writing, documents[i].Json, ids[i]);
        writing.Commit();
    }

    /// <summary>Returns a document; false when there is none of that id.</summary>
    public bool TryGet(string id, out Document document)
    {
        using var reading = _environment.BeginRead();
        return reading.OpenTable(Definition).TryGetBy(IdIndex, KeyOf(id, stackalloc byte[MaxIdKeyBytes]), out document);
    }

    /// <summary>Deletes a document; false when there is none of that id.</summary>
    public bool Delete(string id) => _environment.Write(writing =>
    {
        var table = writing.OpenTable(Definition);
        return table.TryGetBy(IdIndex, KeyOf(id, stackalloc byte[MaxIdKeyBytes]), out var document) && table.Delete(document.Number);
    });

    /// <summary>Finds documents.</summary>
    /// <param name="query">The query.</param>
    /// <param name="after">Where the page before has ended: see <see cref="QueryResult.Next"/>; null for the first page.</param>
    /// <exception cref="QueryException">The page before was not one of this query.</exception>
    public QueryResult Find(Query query, string? after = null)
    {
        ArgumentNullException.ThrowIfNull(query);
        var token = default(PageToken);
        if (after != null && !PageToken.TryParse(after, out token))
            throw new QueryException($"'{after}' is not the end of a page. Use the one that the page before has.");
        var plan = QueryPlan.Make(query, Settings.Indexes);
        using var reading = _environment.BeginRead();
        return new QueryRun(reading.OpenTable(Definition), query, plan).Run(token);
    }

    /// <summary>Checks that a text is a JSON object with an id, and returns the id.</summary>
    /// <param name="json">The text in UTF-8.</param>
    /// <param name="id">The id beside it; null to take the property <c>id</c>.</param>
    /// <exception cref="DocumentFormatException">The text is no JSON object, or has no id.</exception>
    public static string IdOf(ReadOnlySpan<byte> json, string? id)
    {
        try
        {
            var reader = new Utf8JsonReader(json);
            if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
                throw new DocumentFormatException("The text is no JSON object: it must begin with a brace.");
            while (reader.Read())
            {
                if (id != null || reader.CurrentDepth != 1 || reader.TokenType != JsonTokenType.PropertyName || !reader.ValueTextEquals("id"u8))
                    continue;
                reader.Read();
                id = reader.TokenType switch
                {
                    JsonTokenType.String => reader.GetString(),
                    JsonTokenType.Number => Encoding.UTF8.GetString(reader.ValueSpan),
                    _ => null,
                };
            }
        }
        catch (JsonException e)
        {
            throw new DocumentFormatException($"The text is no JSON: {e.Message}", e);
        }

        if (string.IsNullOrEmpty(id))
            throw new DocumentFormatException("The document has no id: it needs a property 'id' with a text or a number, or an id beside it.");
        return Encoding.UTF8.GetByteCount(id) <= MaxIdBytes
            ? id
            : throw new DocumentFormatException($"The id '{id[..40]}...' has {Encoding.UTF8.GetByteCount(id)} bytes in UTF-8, and may have {MaxIdBytes}.");
    }

    private void Put(WriteTransaction writing, ReadOnlyMemory<byte> json, string id)
    {
        var table = writing.OpenTable(Definition);
        var number = table.TryGetBy(IdIndex, KeyOf(id, stackalloc byte[MaxIdKeyBytes]), out var old)
            ? old.Number
            : writing.OpenTree(NumbersTree).Add(_name, 1);
        table.Upsert(new Document(number, id, json));
    }

    private static ReadOnlySpan<byte> KeyOf(string id, Span<byte> buffer)
    {
        ArgumentException.ThrowIfNullOrEmpty(id);
        return Encoding.UTF8.GetByteCount(id) <= MaxIdBytes ? new KeyWriter(buffer).Add(id).Written : "\uffff"u8;
    }

    private static TableDefinition<long, Document> Define(CollectionSettings settings)
    {
        var definition = TableDefinition
            .CreateWithRowIds(settings.Name, settings.Version, new DocumentCodec(), static document => document.Number)
            .UniqueIndex(IdIndex, 1, static (in Document document, ref IndexKeys keys) => keys.Add(document.Id));
        foreach (var text in settings.Indexes)
        {
            var path = JsonPath.Parse(text);
            definition = definition.Index(text, 1, (in Document document, ref IndexKeys keys) => AddKeys(path, document, ref keys));
        }

        return definition;
    }

    // A document without a value has a key as well, so that an index has all documents in order.
    private static void AddKeys(JsonPath path, in Document document, ref IndexKeys keys)
    {
        var count = path.Visit(
            document.Json.Span, ref keys, static (ref Utf8JsonReader value, ref IndexKeys keys) => ValueKey.Write(ref value, ref keys.Begin()));
        if (count == 0)
            ValueKey.WriteMissing(ref keys.Begin());
    }
}
