using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>A tree that can be read: keys in the order of their bytes, each with a value.</summary>
/// <remarks>A handle, valid until its transaction ends. In a write transaction it sees what the transaction has written.</remarks>
public readonly struct Tree
{
    private readonly OpenTree _tree;
    private readonly long _generation;

    internal Tree(OpenTree tree, long generation)
    {
        _tree = tree;
        _generation = generation;
    }

    /// <summary>The number of entries, which is known without a walk through the tree. Puts that wait in the transaction count.</summary>
    public long Count => Opened.SettledState().EntryCount;

    /// <summary>The name of the tree.</summary>
    public string Name => Catalog.Decode(Opened.Name);

    /// <summary>Returns the number of entries, of levels, and of pages by kind. Applies the puts that wait in the transaction first.</summary>
    public TreeStatistics GetStatistics()
    {
        var state = Opened.SettledState();
        return new TreeStatistics(state.EntryCount, state.Depth, state.LeafPages, state.BranchPages, state.OverflowPages);
    }

    internal long Generation => _generation;

    internal OpenTree Opened
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var tree = _tree;
            if (tree == null)
                ThrowDefault();
            tree.ThrowIfClosed(_generation);
            return tree;
        }
    }

    /// <summary>Reads the value of a key; false when the tree does not have it.</summary>
    /// <param name="value">
    /// The value's own bytes, not a copy: valid until the transaction is disposed, or in a write transaction until its next write.
    /// </param>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    public bool TryGet(ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            return TreeReader.TryGet(tree.SettledState(), owner.Pages, key, out value);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Looks up all keys of a batch, which then has their values. Several times faster than one lookup after the other.</summary>
    /// <returns>The number of keys that the tree has.</returns>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    public int GetMany(LookupBatch batch)
    {
        ArgumentNullException.ThrowIfNull(batch);
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            return batch.LookUp(tree, _generation);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Returns true when the tree has the key.</summary>
    public bool Contains(ReadOnlySpan<byte> key)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            return TreeReader.Contains(tree.SettledState(), owner.Pages, key);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Returns a cursor that is not on an entry yet. Dispose it so that it can be reused.</summary>
    public Cursor OpenCursor()
    {
        var lease = Opened.OpenCursor(_generation, out var leaseGeneration);
        return new Cursor(lease, leaseGeneration);
    }

    /// <summary>Returns the entries with keys from <paramref name="from"/> on, and before <paramref name="to"/>, in order.</summary>
    /// <param name="from">The first key; empty for the first key of the tree.</param>
    /// <param name="to">The key after the last one; empty for no end.</param>
    public TreeRange Range(ReadOnlySpan<byte> from, ReadOnlySpan<byte> to) => new(OpenCursor(), from, to, isPrefix: false);

    /// <summary>Returns the entries whose keys begin with <paramref name="prefix"/>, in order.</summary>
    public TreeRange Prefix(ReadOnlySpan<byte> prefix) => new(OpenCursor(), prefix, prefix, isPrefix: true);

    /// <summary>Returns all entries, in order.</summary>
    public TreeRange GetEntries() => new(OpenCursor(), default, default, isPrefix: false);

    /// <summary>Opens the value of a key as a stream, which reads and verifies as it goes; false when the tree does not have it.</summary>
    /// <remarks>
    /// The stream is valid until the transaction ends. In a write transaction it throws <see cref="InvalidOperationException"/> if the tree has
    /// been changed since it was opened, unless its value is a large one (<see cref="StorageOptions.LargeValueBytes"/>) that is still there,
    /// and the transaction has not been rolled back to a savepoint since.
    /// </remarks>
    public bool TryOpenStream(ReadOnlySpan<byte> key, [NotNullWhen(true)] out Stream? stream)
    {
        stream = ValueStream.TryOpen(Opened, _generation, key);
        return stream != null;
    }

    [DoesNotReturn]
    private static void ThrowDefault() => throw new InvalidOperationException("This tree was never opened.");
}
