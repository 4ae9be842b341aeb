using System.Collections.Concurrent;
using System.Diagnostics.CodeAnalysis;
using System.Text;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>A collection of documents, each found by its id, by the indexes of the collection, and by its words.</summary>
/// <remarks>
/// Each call is a transaction of its own. Writes are durable when they return, and those of several callers share commits. Any number of threads may use a
/// collection, also while indexes come and go.
/// </remarks>
[SuppressMessage("Naming", "CA1711", Justification = "Users of document stores call it so.")]
public sealed partial class Collection
{
    internal const string NumbersTree = "documents/numbers";

    private const int MaxSpareBatches = 64;

    private readonly StorageEnvironment _environment;
    private readonly TimeProvider _time;
    private readonly byte[] _name;
    private readonly ConcurrentQueue<DocumentBatch> _spareBatches = [];
    private volatile Shapes _shapes;

    internal Collection(StorageEnvironment environment, TimeProvider time, StoredSettings settings)
    {
        _environment = environment;
        _time = time;
        _name = Encoding.UTF8.GetBytes(settings.Now.Name);
        _shapes = new Shapes(ShapeOf(settings.Now), [.. settings.Before.Select(ShapeOf)]);
    }

    /// <summary>The settings of the collection, as they are now.</summary>
    public CollectionSettings Settings => Shape.Settings;

    /// <summary>The number of documents, with those that are due and not deleted yet.</summary>
    public long Count
    {
        get
        {
            using var reading = _environment.BeginRead();
            return reading.OpenTable(Definition).Count;
        }
    }

    internal CollectionShape Shape => _shapes.Current;

    private TableDefinition<long, Document> Definition => Shape.Definition;

    /// <summary>Stores a document, in place of the one with the same id if there is one.</summary>
    /// <param name="json">A JSON object.</param>
    /// <param name="id">The id; null to take the property <c>id</c> of the document.</param>
    /// <returns>The id.</returns>
    /// <exception cref="DocumentFormatException">The text is no JSON object, or has no id.</exception>
    public string Put(ReadOnlyMemory<byte> json, string? id = null)
    {
        var batch = TakeSpareBatch();
        try
        {
            id = batch.Add(json, id);
            PutMany(batch);
            return id;
        }
        finally
        {
            GiveBack(batch);
        }
    }

    /// <summary>Returns an empty batch, for <see cref="PutMany(DocumentBatch)"/>.</summary>
    public DocumentBatch CreateBatch() => new(this);

    /// <summary>Stores the documents of a batch in one transaction: all of them, or none.</summary>
    /// <param name="batch">The documents. The call leaves it as it is.</param>
    public void PutMany(DocumentBatch batch)
    {
        ArgumentNullException.ThrowIfNull(batch);
        batch.Prepare();
        Write((_name, batch), static (writing, shape, put) => new BatchWriter(shape, put.batch, put._name).Write(writing));
    }

    /// <summary>Stores documents in one transaction: all of them, or none.</summary>
    /// <param name="documents">The documents, with their ids; a null id is the property <c>id</c>.</param>
    /// <exception cref="DocumentFormatException">One is no JSON object, or has no id.</exception>
    public void PutMany(IReadOnlyList<(string? Id, ReadOnlyMemory<byte> Json)> documents)
    {
        ArgumentNullException.ThrowIfNull(documents);
        var batch = CreateBatch();
        foreach (var (id, json) in documents)
            batch.Add(json, id);
        PutMany(batch);
    }

    /// <inheritdoc cref="PutMany(DocumentBatch)"/>
    /// <remarks>
    /// The documents of the next call can be written while those of this one become durable, on top of them: if these cannot be stored, those
    /// cannot either.
    /// </remarks>
    /// <param name="batch">The documents. The call leaves it as it is, and it must not change until the call has ended.</param>
    /// <param name="cancellationToken">Cancels the call while it waits for its turn.</param>
    /// <returns>How many documents have taken the place of another one, which was in the collection or before them in the batch.</returns>
    public async ValueTask<int> PutManyAsync(DocumentBatch batch, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(batch);
        batch.Prepare();
        ValueTask commit;
        int replaced;
        using (var writing = await _environment.BeginWriteAsync(cancellationToken).ConfigureAwait(false))
        {
            replaced = Run(writing, (_name, batch), static (writing, shape, put) => new BatchWriter(shape, put.batch, put._name).Write(writing)).Replaced;
            commit = writing.CommitAsync(CancellationToken.None);
        }

        await commit.ConfigureAwait(false);
        return replaced;
    }

    /// <summary>Returns a document; false when there is none of that id.</summary>
    public bool TryGet(string id, out Document document)
    {
        using var reading = _environment.BeginRead();
        return TryGet(reading.OpenTable(Definition), id, out document);
    }

    /// <summary>Deletes a document and its attachments; false when there is none of that id.</summary>
    public bool Delete(string id) =>
        Write((collection: this, id), static (writing, shape, delete) => delete.collection.Delete(writing, shape, delete.id, expected: null));

    /// <summary>Finds documents.</summary>
    /// <param name="query">The query.</param>
    /// <param name="after">Where the page before has ended: see <see cref="QueryResult.Next"/>; null for the first page.</param>
    /// <exception cref="QueryException">The page before was not one of this query.</exception>
    public QueryResult Find(Query query, string? after = null)
    {
        ArgumentNullException.ThrowIfNull(query);
        using var reading = _environment.BeginRead();
        var shape = Shape;
        var table = reading.OpenTable(shape.Definition);
        var plan = QueryPlan.Make(query, shape.ReadyIndexes(table));
        return new QueryRun(table, query, plan, shape.Expiry).Run(after == null ? default : PageEnd.Parse(after, query, plan));
    }

    /// <summary>Returns the settings that the table may have if it is not brought to the given ones.</summary>
    internal IReadOnlyList<CollectionSettings> SettingsBefore(CollectionSettings settings)
    {
        var shapes = _shapes;
        var before = shapes.Before.Select(static shape => shape.Settings);
        return settings.Version == shapes.Current.Settings.Version ? [.. before] : [shapes.Current.Settings, .. before];
    }

    /// <summary>Returns the shape that settings lead to.</summary>
    internal CollectionShape ShapeOf(CollectionSettings settings) => new(settings, _time);

    /// <summary>Gives the collection a new shape. Until <see cref="Settle"/>, the table may have one of those before. One call at a time.</summary>
    internal void Reshape(CollectionShape shape)
    {
        var (current, before) = _shapes;
        _shapes = new Shapes(shape, shape.Settings.Version == current.Settings.Version ? before : [current, .. before]);
    }

    /// <summary>Forgets the shapes before: the table has the current one.</summary>
    internal void Settle() => _shapes = new Shapes(Shape, []);

    private TResult Write<TState, TResult>(TState state, Func<WriteTransaction, CollectionShape, TState, TResult> write) =>
        _environment.Write((collection: this, state, write), static (writing, call) => call.collection.Run(writing, call.state, call.write));

    private ValueTask<TResult> WriteAsync<TState, TResult>(
        TState state, Func<WriteTransaction, CollectionShape, TState, TResult> write, CancellationToken cancellationToken) => _environment.WriteAsync(
        (collection: this, state, write), static (writing, call) => call.collection.Run(writing, call.state, call.write), cancellationToken);

    // The table has the shape that the collection has now, or still one before. It refuses the others before its first change.
    private TResult Run<TState, TResult>(WriteTransaction writing, TState state, Func<WriteTransaction, CollectionShape, TState, TResult> write)
    {
        var (current, before) = _shapes;
        try
        {
            return write(writing, current, state);
        }
        catch (SchemaMismatchException) when (before.Length > 0)
        {
            for (var i = 0; ; i++)
            {
                try
                {
                    return write(writing, before[i], state);
                }
                catch (SchemaMismatchException) when (i < before.Length - 1)
                {
                    // The next one, then.
                }
            }
        }
    }

    private DocumentBatch TakeSpareBatch() => _spareBatches.TryDequeue(out var batch) ? batch : CreateBatch();

    private void GiveBack(DocumentBatch batch)
    {
        batch.Clear();
        if (batch.IsSmall && _spareBatches.Count < MaxSpareBatches)
            _spareBatches.Enqueue(batch);
    }

    private sealed record Shapes(CollectionShape Current, CollectionShape[] Before);
}
