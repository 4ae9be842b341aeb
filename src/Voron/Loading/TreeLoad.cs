using Voron.Format;
using Voron.Paging;
using Voron.Staging;
using Voron.Transactions;
using Voron.Trees;

namespace Voron.Loading;

/// <summary>Builds a plain tree in private pages, and makes it the content of a new or empty tree by one short commit.</summary>
internal sealed class TreeLoad : OrderedLoad
{
    private readonly WriterEntrance _entrance;
    private readonly byte[] _name;
    private readonly bool _isNew;
    private readonly PrivateTrees _trees;
    private readonly PrivatePages _pages;
    private readonly TreeState _state;

    // The values that no entry has so far, by their first pages.
    private readonly Dictionary<long, LargeExtentReference> _stored = [];

    private ulong[] _checksums = [];

    private TreeLoad(StagingArea area, WriterEntrance entrance, byte[] name, in LoadTarget target, CancellationToken stop)
    {
        _entrance = entrance;
        _name = name;
        _isNew = target.IsNew;
        _trees = new PrivateTrees(area, stop);
        _pages = _trees.Pages;
        _state = new TreeState(target.Header);
    }

    /// <inheritdoc/>
    public override bool IsAtomic => true;

    /// <summary>Begins a load into a tree that does not exist, or is empty.</summary>
    /// <param name="area">Reserves pages.</param>
    /// <param name="entrance">Gives the writer to the short transactions of the load.</param>
    /// <param name="name">The name of the tree in UTF-8.</param>
    /// <param name="stop">Cancels the waits for the writer.</param>
    /// <returns>The load; null if the tree has entries, or if its changes are recorded or its values compressed.</returns>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public static async ValueTask<TreeLoad?> TryBeginAsync(
        StagingArea area, WriterEntrance entrance, byte[] name, CancellationToken stop)
    {
        var target = default(LoadTarget);
        await RunAsync(entrance, body => body.FindLoadTarget(name, out target), stop).ConfigureAwait(false);
        return target.CanAdopt ? new TreeLoad(area, entrance, name, target, stop) : null;
    }

    /// <inheritdoc/>
    public override void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        if (TryStore(value, int.MaxValue) is { } reference)
        {
            AddStored(key, reference);
            return;
        }

        TreeWriter.Put(_pages, _state, key, value);
        _pages.Trim();
    }

    /// <inheritdoc/>
    public override LargeExtentReference? TryStore(ReadOnlySpan<byte> value, int mostSorted)
    {
        if (value.Length < _trees.Engine.Options.LargeValueBytes && value.Length <= mostSorted)
            return null;
        _stored.EnsureCapacity(_stored.Count + 1);
        var first = _trees.Space.AllocateExtent(LargeValues.PageCount(_pages.PageSize, value.Length));
        var chunks = (int)LargeValues.ChunkCount(value.Length);
        if (_checksums.Length < chunks)
            _checksums = new ulong[chunks];

        // As those of a staged value: without a page header, and with a checksum for each chunk.
        for (var chunk = 0; chunk < chunks; chunk++)
        {
            var rest = value[(chunk * LargeValues.ChunkBytes)..];
            _checksums[chunk] = _trees.Area.File.WriteChunk(first, chunk, rest[..Math.Min(rest.Length, LargeValues.ChunkBytes)]);
        }

        var reference = ValueExtents.Describe(_pages, first, value.Length, _checksums.AsSpan(0, chunks), _state.Root);
        _stored.Add(first, reference);
        _pages.Trim();
        return reference;
    }

    /// <inheritdoc/>
    public override void AddStored(ReadOnlySpan<byte> key, LargeExtentReference value)
    {
        _stored.Remove(value.FirstPage);
        TreeWriter.PutLargeExtent(_pages, _state, key, value);
        _pages.Trim();
    }

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">The tree has been created, filled, dropped or changed meanwhile. Nothing was loaded.</exception>
    public override async ValueTask CompleteAsync(CancellationToken stop)
    {
        FreeUnused();
        await _trees.MakeDurableAsync().ConfigureAwait(false);
        stop.ThrowIfCancellationRequested();
        var isAdopted = false;
        await RunAsync(
            _entrance,
            body =>
            {
                if (!body.TryAdopt(_name, _state.ToHeader(), _isNew))
                    return false;
                _trees.TakePages(body);
                return isAdopted = true;
            },
            stop).ConfigureAwait(false);
        if (!isAdopted)
        {
            throw new InvalidOperationException(
                $"The tree '{Catalog.Decode(_name)}' of '{_trees.Engine.Disk.Path}' has been changed while entries were loaded into it, so nothing was " +
                "loaded. Load again: entries are then added to those that the tree has.");
        }
    }

    /// <summary>Frees the memory and, unless the load is complete, the pages.</summary>
    public override void Dispose() => _trees.Dispose();

    // The values of entries that lost against others with the same key.
    private void FreeUnused()
    {
        foreach (var value in _stored.Values)
        {
            _state.OverflowPages += ValueExtents.CountPages(_pages, value);
            ValueExtents.FreeLargeExtent(_pages, _state, value);
        }
    }

    private static async ValueTask RunAsync(WriterEntrance entrance, Func<WriteTransactionBody, bool> work, CancellationToken stop)
    {
        var body = await entrance.BeginAsync(stop).ConfigureAwait(false);
        try
        {
            if (!ShortTransaction.TryRun(body, work))
                return;
            var progress = default(CommitProgress);
            await body.CommitAsync(ref progress).ConfigureAwait(false);
        }
        finally
        {
            body.CallUser();
        }
    }
}
