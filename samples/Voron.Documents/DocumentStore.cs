using System.Text;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>A store of JSON documents, in collections with indexes.</summary>
/// <remarks>Any number of threads may use it at the same time.</remarks>
public sealed class DocumentStore : IDisposable
{
    private const string SettingsTree = "documents/collections";

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Collection> _collections = [];

    private DocumentStore(StorageEnvironment environment) => Environment = environment;

    /// <summary>The environment that has the documents.</summary>
    public StorageEnvironment Environment { get; }

    /// <summary>Opens a store in a directory, or creates it.</summary>
    /// <param name="directory">The directory.</param>
    /// <param name="options">Options of the environment; null for the defaults.</param>
    public static DocumentStore Open(string directory, StorageOptions? options = null) => Open(StorageEnvironment.Open(directory, options ?? new StorageOptions()));

    /// <summary>Opens a store in memory.</summary>
    public static DocumentStore OpenInMemory() => Open(StorageEnvironment.OpenInMemory());

    /// <summary>Returns the settings of all collections, in the order of their names.</summary>
    public IReadOnlyList<CollectionSettings> GetCollections()
    {
        using var reading = Environment.BeginRead();
        var settings = new List<CollectionSettings>();
        foreach (var entry in reading.OpenTree(SettingsTree).GetEntries())
            settings.Add(CollectionSettings.FromBytes(entry.Value));
        return settings;
    }

    /// <summary>Returns a collection.</summary>
    /// <exception cref="KeyNotFoundException">There is no collection of that name.</exception>
    public Collection GetCollection(string name) => Find(name) ?? throw new KeyNotFoundException(
        $"There is no collection '{name}' in '{Environment.Path}'. An import, or CreateCollectionAsync, creates one.");

    /// <summary>Returns a collection, and creates it when there is none of that name.</summary>
    /// <param name="name">The name: 1 to 200 bytes in UTF-8.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    public async ValueTask<Collection> CreateCollectionAsync(string name, CancellationToken cancellationToken = default)
    {
        if (Find(name) is { } found)
            return found;
        return await SaveAsync(new CollectionSettings(name, 1, []), null, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Adds an index on a path. Documents can be read and written while it is built.</summary>
    /// <param name="name">The name of the collection.</param>
    /// <param name="path">The path, such as <c>$.depends[*].name</c>.</param>
    /// <param name="progress">Told how many documents are in the index.</param>
    /// <param name="cancellationToken">Cancels the call. What was built stays, and the next call goes on.</param>
    /// <exception cref="QueryException">The text is no path.</exception>
    /// <exception cref="KeyNotFoundException">There is no collection of that name.</exception>
    public async ValueTask<Collection> AddIndexAsync(
        string name, string path, IProgress<EvolveProgress>? progress = null, CancellationToken cancellationToken = default)
    {
        var collection = GetCollection(name);
        var text = JsonPath.Parse(path).Text;
        var settings = collection.Settings;
        if (!settings.Indexes.Contains(text))
            settings = settings with { Version = settings.Version + 1, Indexes = [.. settings.Indexes, text] };
        return await SaveAsync(settings, progress, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Removes the index on a path. Does nothing when there is none.</summary>
    /// <inheritdoc cref="AddIndexAsync"/>
    public async ValueTask<Collection> DropIndexAsync(string name, string path, CancellationToken cancellationToken = default)
    {
        var collection = GetCollection(name);
        var text = JsonPath.Parse(path).Text;
        var settings = collection.Settings;
        if (!settings.Indexes.Contains(text))
            return collection;
        settings = settings with { Version = settings.Version + 1, Indexes = [.. settings.Indexes.Where(index => index != text)] };
        return await SaveAsync(settings, null, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Deletes a collection with its documents; false when there is none of that name.</summary>
    public async ValueTask<bool> DropCollectionAsync(string name, CancellationToken cancellationToken = default)
    {
        lock (_gate)
            _collections.Remove(name);
        var found = Environment.Write(writing => writing.OpenTree(SettingsTree).Delete(Encoding.UTF8.GetBytes(name)));
        await Environment.DropTableAsync(name, cancellationToken).ConfigureAwait(false);
        return found;
    }

    /// <summary>Closes the store.</summary>
    public void Dispose() => Environment.Dispose();

    private static DocumentStore Open(StorageEnvironment environment)
    {
        environment.Write(writing =>
        {
            writing.CreateTree(SettingsTree);
            writing.CreateTree(Collection.NumbersTree);
        });
        return new DocumentStore(environment);
    }

    private Collection? Find(string name)
    {
        lock (_gate)
        {
            if (_collections.TryGetValue(name, out var known))
                return known;
        }

        using var reading = Environment.BeginRead();
        if (!reading.OpenTree(SettingsTree).TryGet(Encoding.UTF8.GetBytes(name), out var bytes))
            return null;
        return Keep(new Collection(Environment, CollectionSettings.FromBytes(bytes)));
    }

    // The settings come first: if the building of an index breaks off, the next call goes on with it.
    private async ValueTask<Collection> SaveAsync(CollectionSettings settings, IProgress<EvolveProgress>? progress, CancellationToken cancellationToken)
    {
        var collection = new Collection(Environment, settings);
        Environment.Write(writing => writing.OpenTree(SettingsTree).Put(Encoding.UTF8.GetBytes(settings.Name), settings.ToBytes()));
        await Environment.EvolveAsync(collection.Definition, progress, cancellationToken: cancellationToken).ConfigureAwait(false);
        return Keep(collection);
    }

    private Collection Keep(Collection collection)
    {
        lock (_gate)
            _collections[collection.Settings.Name] = collection;
        return collection;
    }
}
