using System.Text;
using Voron.Documents.Text;
using Voron.Feeds;
using Voron.Tables;

namespace Voron.Documents;

// A change of settings is stored first, with the settings that the table may still have; then the table is brought to it. Wherever that breaks off, writes
// find the settings that fit the table, and the next change continues.
public sealed partial class DocumentStore
{
    private const int MaxNameBytes = 200;

    // Protects the settings: they change one after the other. Taken before _gate.
    private readonly SemaphoreSlim _changes = new(1);

    /// <summary>Returns a collection, and creates it when there is none of that name.</summary>
    /// <param name="name">The name: 1 to 200 bytes in UTF-8.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="QueryException">The name is empty or too long.</exception>
    /// <exception cref="StorageFullException">There is no room for the collection.</exception>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public async ValueTask<Collection> CreateCollectionAsync(string name, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(name);
        if (Encoding.UTF8.GetByteCount(name) is 0 or > MaxNameBytes)
            throw new QueryException($"The name of a collection has 1 to {MaxNameBytes} bytes in UTF-8, but this one has {Encoding.UTF8.GetByteCount(name)}.");
        return Find(name) ?? await AloneAsync(async () => Find(name) ?? await CreateAsync(name).ConfigureAwait(false), cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Adds an index on a path. Documents can be read and written while it is built.</summary>
    /// <param name="name">The name of the collection.</param>
    /// <param name="path">The path, such as <c>$.depends[*].name</c>.</param>
    /// <param name="progress">Receives the number of documents that are in the index.</param>
    /// <param name="cancellationToken">Cancels the call. What was built stays, and the next call continues.</param>
    /// <exception cref="QueryException">The text is no path.</exception>
    /// <exception cref="KeyNotFoundException">There is no collection of that name.</exception>
    /// <exception cref="StorageFullException">There is no room for the index.</exception>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public ValueTask<Collection> AddIndexAsync(
        string name, string path, IProgress<EvolveProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        var text = JsonPath.Parse(path).Text;
        return ChangeAsync(
            name,
            settings => settings.Indexes.Contains(text) ? settings : settings with { Indexes = [.. settings.Indexes, text] },
            progress,
            cancellationToken);
    }

    /// <summary>Removes the index on a path.</summary>
    /// <inheritdoc cref="AddIndexAsync"/>
    /// <exception cref="KeyNotFoundException">There is no collection of that name, or it has no index on the path.</exception>
    public ValueTask<Collection> DropIndexAsync(string name, string path, CancellationToken cancellationToken = default)
    {
        var text = JsonPath.Parse(path).Text;
        return ChangeAsync(
            name,
            settings => Without(settings, text),
            progress: null,
            cancellationToken);
    }

    /// <summary>
    /// Makes the text index of a collection, in place of the one that it has, which is dropped first: searches fail until the new one has all documents.
    /// Documents can be read and written meanwhile. If the call breaks off, the next one with the same paths continues.
    /// </summary>
    /// <param name="name">The name of the collection.</param>
    /// <param name="paths">The paths of the fields whose words the index has; none to drop the index.</param>
    /// <param name="progress">Receives the number of documents that the call has brought into the index.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="QueryException">A text is no path.</exception>
    /// <exception cref="KeyNotFoundException">There is no collection of that name.</exception>
    /// <exception cref="StorageFullException">There is no room for the index.</exception>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public ValueTask<Collection> SetTextIndexAsync(
        string name, IReadOnlyList<string> paths, IProgress<long>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(paths);
        var fields = paths.Select(static path => JsonPath.Parse(path).Text).Distinct().ToList();
        return AloneAsync(
            async () =>
            {
                var collection = GetCollection(name);
                await SaveAsync(collection, WithText(collection.Settings, fields), null, cancellationToken).ConfigureAwait(false);
                await DropTextsAsync(name, collection.Settings.Text?.Number).ConfigureAwait(false);
                if (collection.Shape.Text != null)
                    await new TextIndexBuild(Environment, collection.Shape, collection.CreateBatch()).RunAsync(progress, cancellationToken).ConfigureAwait(false);
                return collection;
            },
            cancellationToken);
    }

    /// <summary>Sets the path of the time at which a document ends, or says that documents do not end.</summary>
    /// <remarks>
    /// The value is a time of ISO 8601, in UTC if it does not say otherwise, or a number of seconds since 1970; a document with another value, or none, does not
    /// end. A document that is due is not read any more, and <see cref="ExpireAsync"/> deletes it.
    /// </remarks>
    /// <param name="name">The name of the collection.</param>
    /// <param name="path">The path, such as <c>$.expires</c>, which leads to one value; null if documents do not end.</param>
    /// <param name="cancellationToken">Cancels the call while it builds the index on the times. The next call continues.</param>
    /// <exception cref="QueryException">The text is no path, or leads to several values.</exception>
    /// <exception cref="KeyNotFoundException">There is no collection of that name.</exception>
    public ValueTask<Collection> SetExpiryAsync(string name, string? path, CancellationToken cancellationToken = default)
    {
        var parsed = path == null ? null : JsonPath.Parse(path);
        if (parsed?.IsMultiple == true)
            throw new QueryException($"'{path}' leads to several values, and a document ends once.");
        return ChangeAsync(
            name,
            settings => settings.ExpiryPath == parsed?.Text ? settings : settings with { ExpiryPath = parsed?.Text },
            progress: null,
            cancellationToken);
    }

    /// <summary>
    /// Sets how documents are compressed, and rewrites existing ones, in short transactions while others write. The next call continues where one
    /// has broken off.
    /// </summary>
    /// <param name="name">The name of the collection.</param>
    /// <param name="compression">How to compress; <see cref="ValueCompression.None"/> to decompress.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="KeyNotFoundException">There is no collection of that name.</exception>
    /// <exception cref="StorageFullException">There is no room.</exception>
    public async ValueTask<RecompressionReport> SetCompressionAsync(
        string name, ValueCompression compression, CancellationToken cancellationToken = default)
    {
        await ChangeAsync(
            name,
            settings => settings.Compression == compression ? settings : settings with { Compression = compression },
            progress: null,
            cancellationToken).ConfigureAwait(false);
        return await Environment.RecompressTableAsync(name, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Deletes the documents of all collections whose time is over.</summary>
    /// <inheritdoc cref="Collection.ExpireAsync"/>
    public async ValueTask<long> ExpireAsync(CancellationToken cancellationToken = default)
    {
        var total = 0L;
        foreach (var settings in GetCollections())
        {
            if (settings.ExpiryPath != null && Find(settings.Name) is { } collection)
                total += await collection.ExpireAsync(cancellationToken).ConfigureAwait(false);
        }

        return total;
    }

    /// <summary>Deletes a collection with its documents and their attachments; false when there is none of that name.</summary>
    /// <param name="name">The name.</param>
    /// <param name="cancellationToken">Cancels the call until the deletion begins.</param>
    /// <exception cref="ObjectDisposedException">The store was closed.</exception>
    public ValueTask<bool> DropCollectionAsync(string name, CancellationToken cancellationToken = default) => AloneAsync(
        async () =>
        {
            // First the settings, then their object: a search for them between the two finds the object, and one behind them nothing.
            var found = Environment.Write(writing => writing.OpenTree(SettingsTree).Delete(Encoding.UTF8.GetBytes(name)));
            lock (_gate)
                _collections.Remove(name);
            await DropRestAsync(name).ConfigureAwait(false);
            return found;
        },
        cancellationToken);

    // After a call that has broken off, the settings are without the index, and the table may still have it: the next call continues.
    private CollectionSettings Without(CollectionSettings settings, string index)
    {
        if (settings.Indexes.Contains(index))
            return settings with { Indexes = [.. settings.Indexes.Where(other => other != index)] };
        return GetCollection(settings.Name).SettingsBefore(settings).Any(before => before.Indexes.Contains(index))
            ? settings
            : throw new KeyNotFoundException($"The collection '{settings.Name}' has no index on '{index}'.");
    }

    private static CollectionSettings Next(CollectionSettings before, CollectionSettings settings) =>
        ReferenceEquals(before, settings) ? before : settings with { Version = before.Version + 1 };

    private CollectionSettings WithText(CollectionSettings settings, List<string> fields)
    {
        if (settings.Text == null ? fields.Count == 0 : settings.Text.Fields.SequenceEqual(fields))
            return settings;
        return settings with { Text = fields.Count == 0 ? null : new TextSettings(fields, Environment.Write(TextIndex.NextNumber)) };
    }

    private ValueTask<Collection> ChangeAsync(
        string name, Func<CollectionSettings, CollectionSettings> change, IProgress<EvolveProgress>? progress, CancellationToken cancellationToken) => AloneAsync(
        async () =>
        {
            var collection = GetCollection(name);
            await SaveAsync(collection, change(collection.Settings), progress, cancellationToken).ConfigureAwait(false);
            return collection;
        },
        cancellationToken);

    private async ValueTask<Collection> CreateAsync(string name)
    {
        // What a deletion may have left, if the process has ended meanwhile.
        await DropRestAsync(name).ConfigureAwait(false);
        var settings = new StoredSettings(new CollectionSettings(name, 1, []), []);
        var collection = new Collection(Environment, _time, settings);
        Environment.Write(writing =>
        {
            writing.CreateTable(collection.Shape.Definition);
            Put(writing, settings);
        });
        lock (_gate)
            return _collections.TryAdd(name, collection) ? collection : _collections[name];
    }

    private async ValueTask SaveAsync(
        Collection collection, CollectionSettings changed, IProgress<EvolveProgress>? progress, CancellationToken cancellationToken)
    {
        var settings = Next(collection.Settings, changed);
        var before = collection.SettingsBefore(settings);
        var shape = collection.ShapeOf(settings);
        if (settings != collection.Settings)
        {
            Environment.Write(writing =>
            {
                Put(writing, new StoredSettings(settings, before));
                shape.Text?.Create(writing);
            });
            collection.Reshape(shape);
        }

        await Environment.EvolveAsync(shape.Definition, progress, cancellationToken: cancellationToken).ConfigureAwait(false);
        if (before.Count == 0)
            return;
        collection.Settle();
        Environment.Write(writing => Put(writing, new StoredSettings(settings, [])));
    }

    private static void Put(WriteTransaction writing, StoredSettings settings) =>
        writing.OpenTree(SettingsTree).Put(Encoding.UTF8.GetBytes(settings.Now.Name), settings.ToBytes());

    private async ValueTask DropRestAsync(string name)
    {
        await Environment.DropTableAsync(name).ConfigureAwait(false);
        await Environment.DropTreeAsync(Collection.AttachmentsTreeOf(name)).ConfigureAwait(false);
        await DropTextsAsync(name, kept: null).ConfigureAwait(false);
        Environment.Write(writing => writing.DeleteFeed(name));
    }

    // All text indexes that the collection has had, but for one.
    private async ValueTask DropTextsAsync(string name, long? kept)
    {
        foreach (var tree in GetTreeNames())
        {
            if (TextIndex.NumberOf(tree, name) is not { } number || number == kept)
                continue;
            Environment.Write(writing => TextIndex.Forget(writing, number));
            await Environment.DropTreeAsync(tree).ConfigureAwait(false);
        }
    }

    private IReadOnlyList<string> GetTreeNames()
    {
        using var reading = Environment.BeginRead();
        return reading.GetTreeNames();
    }

    private async ValueTask<T> AloneAsync<T>(Func<ValueTask<T>> change, CancellationToken cancellationToken)
    {
        await _changes.WaitAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            return await change().ConfigureAwait(false);
        }
        finally
        {
            _changes.Release();
        }
    }
}
