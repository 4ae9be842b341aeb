using System.Diagnostics.CodeAnalysis;
using System.Text;
using Voron.Documents.Text;
using Voron.Tables;

namespace Voron.Documents;

/// <summary>A store of JSON documents, in collections with indexes.</summary>
/// <remarks>Any number of threads may use it at the same time.</remarks>
[SuppressMessage("Design", "CA1001", Justification = "A semaphore whose wait handle no code takes has nothing to dispose.")]
public sealed partial class DocumentStore : IDisposable
{
    private const string SettingsTree = "documents/collections";

    private readonly Lock _gate = new();
    private readonly Dictionary<string, Collection> _collections = [];

    private readonly TimeProvider _time;

    private DocumentStore(StorageEnvironment environment, TimeProvider? time)
    {
        Environment = environment;
        _time = time ?? TimeProvider.System;
    }

    /// <summary>The environment that has the documents.</summary>
    public StorageEnvironment Environment { get; }

    /// <summary>Opens a store in a directory, or creates it.</summary>
    /// <param name="directory">The directory.</param>
    /// <param name="options">Options of the environment; null for the defaults.</param>
    /// <param name="time">The clock that says which documents are due; null for that of the system.</param>
    /// <exception cref="EnvironmentInUseException">Another process, or this one, has the store open.</exception>
    /// <exception cref="CorruptionException">A file is damaged.</exception>
    /// <exception cref="IOException">The directory or a file cannot be read or written.</exception>
    public static DocumentStore Open(string directory, StorageOptions? options = null, TimeProvider? time = null) =>
        Open(StorageEnvironment.Open(directory, options), time);

    /// <summary>Opens a store in memory.</summary>
    /// <param name="options">Options of the environment; null for the defaults.</param>
    /// <param name="time">The clock that says which documents are due; null for that of the system.</param>
    public static DocumentStore OpenInMemory(InMemoryOptions? options = null, TimeProvider? time = null) => Open(StorageEnvironment.OpenInMemory(options), time);

    /// <summary>Returns the settings of all collections, in the order of their names.</summary>
    public IReadOnlyList<CollectionSettings> GetCollections()
    {
        using var reading = Environment.BeginRead();
        var settings = new List<CollectionSettings>();
        foreach (var entry in reading.OpenTree(SettingsTree).GetEntries())
            settings.Add(StoredSettings.FromBytes(entry.Value).Now);
        return settings;
    }

    /// <summary>Returns a collection.</summary>
    /// <exception cref="KeyNotFoundException">There is no collection of that name.</exception>
    public Collection GetCollection(string name) => Find(name) ?? throw new KeyNotFoundException(
        $"There is no collection '{name}' in '{Environment.Path}'.");

    /// <summary>Closes the store. Calls that use it fail with an <see cref="ObjectDisposedException"/>.</summary>
    public void Dispose() => Environment.Dispose();

    private static DocumentStore Open(StorageEnvironment environment, TimeProvider? time)
    {
        try
        {
            environment.Write(writing =>
            {
                writing.CreateTree(SettingsTree);
                writing.CreateTree(Collection.NumbersTree);
                writing.CreateTree(TextIndex.StateTree);
            });
            return new DocumentStore(environment, time);
        }
        catch
        {
            environment.Dispose();
            throw;
        }
    }

    // Each collection has one object. The settings are read under the lock, so that none comes back behind a deletion.
    private Collection? Find(string name)
    {
        lock (_gate)
        {
            if (_collections.TryGetValue(name, out var known))
                return known;
            using var reading = Environment.BeginRead();
            if (!reading.OpenTree(SettingsTree).TryGet(Encoding.UTF8.GetBytes(name), out var bytes))
                return null;
            return _collections[name] = new Collection(Environment, _time, StoredSettings.FromBytes(bytes));
        }
    }
}
