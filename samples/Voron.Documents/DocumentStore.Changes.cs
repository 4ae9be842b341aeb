using System.Text;
using Voron.Documents.Text;
using Voron.Feeds;
using Voron.Tables;

namespace Voron.Documents;

public sealed partial class DocumentStore
{
    private const int MaxNameBytes = 200;

    // Protects the settings: they change one after the other. Taken before _gate.
    private readonly SemaphoreSlim _changes = new(1);

    /// <summary>Returns a collection, and creates it when there is none of that name.</summary>
    /// <param name="name">The name: 1 to 200 bytes in UTF-8.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="QueryException">The name is empty or too long.</exception>
    public async ValueTask<Collection> CreateCollectionAsync(string name, CancellationToken cancellationToken = default)
    {
        if (Find(name) is { } found)
            return found;
        if (Encoding.UTF8.GetByteCount(name) is 0 or > MaxNameBytes)
            throw new QueryException($"The name of a collection has 1 to {MaxNameBytes} bytes in UTF-8, but this one has {Encoding.UTF8.GetByteCount(name)}.");
        return await AloneAsync(
            async () => Find(name) ?? await SaveAsync(new CollectionSettings(name, 1, []), null, cancellationToken).ConfigureAwait(false),
            cancellationToken).ConfigureAwait(false);
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
        return await AloneAsync(
            async () =>
            {
                var settings = collection.Settings;
                if (!settings.Indexes.Contains(text))
                    settings = settings with { Version = settings.Version + 1, Indexes = [.. settings.Indexes, text] };
                return await SaveAsync(settings, progress, cancellationToken).ConfigureAwait(false);
            },
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Removes the index on a path. Does nothing when there is none.</summary>
    /// <inheritdoc cref="AddIndexAsync"/>
    public async ValueTask<Collection> DropIndexAsync(string name, string path, CancellationToken cancellationToken = default)
    {
        var collection = GetCollection(name);
        var text = JsonPath.Parse(path).Text;
        return await AloneAsync(
            async () =>
            {
                var settings = collection.Settings;
                if (!settings.Indexes.Contains(text))
                    return collection;
                settings = settings with { Version = settings.Version + 1, Indexes = [.. settings.Indexes.Where(index => index != text)] };
                return await SaveAsync(settings, null, cancellationToken).ConfigureAwait(false);
            },
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>
    /// Makes the text index of a collection, in place of the one that it has. Documents can be read and written while it is built. If the call breaks off, the
    /// next one with the same paths goes on.
    /// </summary>
    /// <param name="name">The name of the collection.</param>
    /// <param name="paths">The paths of the fields whose words the index has; none to drop the index.</param>
    /// <param name="progress">Told how many documents are in the index.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="QueryException">A text is no path.</exception>
    /// <exception cref="KeyNotFoundException">There is no collection of that name.</exception>
    public async ValueTask<Collection> SetTextIndexAsync(
        string name, IReadOnlyList<string> paths, IProgress<long>? progress = null, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(paths);
        var collection = GetCollection(name);
        var fields = paths.Select(static path => JsonPath.Parse(path).Text).Distinct().ToList();
        return await AloneAsync(
            async () =>
            {
                await SetTextAsync(collection, fields, cancellationToken).ConfigureAwait(false);
                if (collection.Shape.Text != null)
                    await new TextIndexBuild(Environment, collection.Shape, collection.CreateBatch()).RunAsync(progress, cancellationToken).ConfigureAwait(false);
                return collection;
            },
            cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Deletes a collection with its documents and their attachments; false when there is none of that name.</summary>
    public async ValueTask<bool> DropCollectionAsync(string name, CancellationToken cancellationToken = default) => await AloneAsync(
        async () =>
        {
            var text = Find(name)?.Shape.Text;
            lock (_gate)
                _collections.Remove(name);
            var found = Environment.Write(writing => writing.OpenTree(SettingsTree).Delete(Encoding.UTF8.GetBytes(name)));
            await Environment.DropTableAsync(name, cancellationToken).ConfigureAwait(false);
            await Environment.DropTreeAsync(Collection.AttachmentsTreeOf(name), cancellationToken).ConfigureAwait(false);
            if (text != null)
                await DropAsync(text, cancellationToken).ConfigureAwait(false);
            Environment.Write(writing => writing.DeleteFeed(name));
            return found;
        },
        cancellationToken).ConfigureAwait(false);

    private async ValueTask SetTextAsync(Collection collection, List<string> fields, CancellationToken cancellationToken)
    {
        var settings = collection.Settings;
        var before = collection.Shape.Text;
        if (settings.Text == null ? fields.Count == 0 : settings.Text.Fields.SequenceEqual(fields))
            return;
        var version = settings.Version + 1;
        settings = settings with { Version = version, Text = fields.Count == 0 ? null : new TextSettings(fields, version) };
        await SaveAsync(settings, null, cancellationToken).ConfigureAwait(false);
        if (before != null)
            await DropAsync(before, cancellationToken).ConfigureAwait(false);
    }

    // The settings come first: if the building of an index breaks off, the next call goes on with it. Each collection has one object, which takes a new shape.
    private async ValueTask<Collection> SaveAsync(CollectionSettings settings, IProgress<EvolveProgress>? progress, CancellationToken cancellationToken)
    {
        var shape = new CollectionShape(settings);
        Environment.Write(writing =>
        {
            writing.OpenTree(SettingsTree).Put(Encoding.UTF8.GetBytes(settings.Name), settings.ToBytes());
            shape.Text?.Create(writing);
        });
        Collection? collection;
        lock (_gate)
        {
            if (_collections.TryGetValue(settings.Name, out collection))
                collection.Reshape(shape);
            else
                _collections.Add(settings.Name, collection = new Collection(Environment, settings));
        }

        await Environment.EvolveAsync(shape.Definition, progress, cancellationToken: cancellationToken).ConfigureAwait(false);
        return collection;
    }

    private async ValueTask DropAsync(TextIndex text, CancellationToken cancellationToken)
    {
        Environment.Write(text.Forget);
        await Environment.DropTreeAsync(text.WordsTree, cancellationToken).ConfigureAwait(false);
        await Environment.DropTreeAsync(text.LengthsTree, cancellationToken).ConfigureAwait(false);
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
