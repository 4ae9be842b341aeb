using Voron.Transactions;
using Voron.Trees;

namespace Voron.Loading;

/// <summary>Builds a plain tree in private pages, and makes it the content of a new or empty tree by one short commit.</summary>
internal sealed class TreeLoad : OrderedLoad
{
    private readonly byte[] _name;
    private readonly PrivateTrees _trees;
    private readonly PrivateTree _tree;

    private TreeLoad(PrivateTrees trees, byte[] name, LoadTarget target)
    {
        _name = name;
        _trees = trees;
        _tree = new PrivateTree(trees, name, target);
    }

    /// <inheritdoc/>
    public override bool IsAtomic => true;

    /// <summary>Begins a load into a tree that does not exist, or is empty.</summary>
    /// <param name="trees">Private trees, without any so far.</param>
    /// <param name="name">The name of the tree in UTF-8.</param>
    /// <param name="stop">Cancels the wait for the writer.</param>
    /// <returns>The load; null if the tree has entries, or if its changes are recorded.</returns>
    /// <exception cref="InvalidOperationException">The tree is of another kind.</exception>
    public static async ValueTask<TreeLoad?> TryBeginAsync(PrivateTrees trees, byte[] name, CancellationToken stop)
    {
        LoadTarget target = null!;
        await ShortCommit.RunAsync(trees.Area.Entrance, body => body.FindLoadTarget(name, out target), stop).ConfigureAwait(false);
        return target.CanAdopt ? new TreeLoad(trees, name, target) : null;
    }

    /// <inheritdoc/>
    public override void Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => _tree.Put(key, value);

    /// <inheritdoc/>
    public override ReadOnlySpan<byte> TryStore(ReadOnlySpan<byte> value, int mostSorted) => _tree.TryStore(value, mostSorted);

    /// <inheritdoc/>
    public override void AddStored(ReadOnlySpan<byte> key, ReadOnlySpan<byte> reference) => _tree.PutStored(key, reference);

    /// <inheritdoc/>
    /// <exception cref="InvalidOperationException">The tree has been created, filled, dropped or changed meanwhile. Nothing was loaded.</exception>
    public override async ValueTask CompleteAsync(CancellationToken stop)
    {
        _tree.FreeUnused();
        await _trees.MakeDurableAsync().ConfigureAwait(false);
        stop.ThrowIfCancellationRequested();
        await _tree.InstallDictionariesAsync(stop).ConfigureAwait(false);
        var isAdopted = false;
        await ShortCommit.RunAsync(
            _trees.Area.Entrance,
            body =>
            {
                if (!_tree.TryAdopt(body))
                    return false;
                _trees.TakePages(body);
                return isAdopted = true;
            },
            stop).ConfigureAwait(false);
        if (!isAdopted)
            throw LoadErrors.Changed($"tree '{Catalog.Decode(_name)}'", _trees.Engine.Disk.Path);
    }
}
