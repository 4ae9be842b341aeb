using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.IdSets;

namespace Voron;

/// <summary>A tree of id sets that can be read: each key has a set of 64-bit ids in ascending order, each with a byte of payload.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. In a write transaction it sees what the transaction has written. Ids are 0 to 2^63 - 1. A key whose
/// set is empty does not exist.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly partial struct IdTree
{
    private readonly OpenTree _tree;
    private readonly long _generation;

    internal IdTree(OpenTree tree, long generation)
    {
        _tree = tree;
        _generation = generation;
    }

    /// <summary>The number of keys, which is known without a walk through the tree.</summary>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long Count => Opened.SettledState().EntryCount;

    /// <summary>The number of ids in all sets, which is known without a walk through the tree.</summary>
    /// <inheritdoc cref="Count"/>
    public long ValueCount => Opened.SettledState().NestedValues;

    /// <summary>The name of the tree.</summary>
    /// <inheritdoc cref="Count"/>
    public string Name => Catalog.Decode(Opened.Name);

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

    /// <summary>Returns the number of keys, of levels, and of pages by kind.</summary>
    /// <inheritdoc cref="Count"/>
    public TreeStatistics GetStatistics() => Opened.GetStatistics();

    /// <summary>Returns the number of ids of a key; 0 when the tree does not have it. Costs one lookup, whatever the size of the set.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long CountOf(ReadOnlySpan<byte> key)
    {
        using var call = new ReadingCall(Opened, _generation);
        return IdTreeReader.CountOf(_tree.SettledState(), _tree.Owner.Pages, key);
    }

    /// <summary>Returns true when the set of a key has an id.</summary>
    /// <inheritdoc cref="TryGetPayload"/>
    public bool Contains(ReadOnlySpan<byte> key, long id) => TryGetPayload(key, id, out _);

    /// <summary>Gets the payload of an id; false when the tree does not have the key, or its set does not have the id.</summary>
    /// <param name="key">The key.</param>
    /// <param name="id">The id.</param>
    /// <param name="payload">The payload with which the id was added last; 0 when there is none.</param>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGetPayload(ReadOnlySpan<byte> key, long id, out byte payload)
    {
        using var call = new ReadingCall(Opened, _generation);
        return IdTreeReader.TryFind(_tree.SettledState(), _tree.Owner.Pages, key, id, out payload);
    }

    /// <summary>Returns a cursor over the set of a key, which is not on an id yet. Dispose it so that it can be reused.</summary>
    /// <remarks>
    /// When the tree does not have the key, the set is empty. In a write transaction, the key may be added while the cursor is open.
    /// </remarks>
    /// <param name="key">The key, which the cursor copies.</param>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public IdCursor OpenIds(ReadOnlySpan<byte> key) => new(Opened.OpenSet(_generation, key, out var lease), lease);

    /// <summary>Returns a query for the ids of a key, alone or to be combined with others. Dispose it so that its parts can be reused.</summary>
    /// <inheritdoc cref="OpenIds"/>
    public IdQuery Query(ReadOnlySpan<byte> key) => new(Opened.OpenSet(_generation, key, out var lease), lease);

    /// <summary>Returns a query for a part of the ids of a key, each less the first one of the part.</summary>
    /// <param name="key">The key.</param>
    /// <param name="firstId">The lowest id.</param>
    /// <param name="lastId">The highest id.</param>
    /// <param name="name">The bytes that <see cref="IdQuery.IsOver"/> takes for the name of the tree.</param>
    internal IdQuery QueryPart(ReadOnlySpan<byte> key, long firstId, long lastId, byte[] name) =>
        new(Opened.OpenSet(_generation, key, out var lease), lease, (firstId, lastId), name);

    /// <summary>Returns a cursor over the keys that is not on a key yet. Dispose it so that it can be reused.</summary>
    /// <inheritdoc cref="Count"/>
    public IdKeyCursor OpenCursor()
    {
        var lease = Opened.OpenCursor(_generation, out var leaseGeneration);
        return new IdKeyCursor(lease, leaseGeneration);
    }

    /// <summary>Describes the tree by its name and its numbers of keys and ids, or says that it has ended. Any thread may call this.</summary>
    public override string ToString()
    {
        if (_tree is not { IsDropped: false } tree || tree.Generation != _generation)
            return $"id tree ({(_tree == null ? "never opened" : "ended")})";
        var waiting = tree.HasPuts ? ", and changes that wait to be applied" : "";
        return $"id tree {KeyText.Of(tree.Name)} with {tree.StateAsIs.EntryCount} keys and {tree.StateAsIs.NestedValues} ids{waiting}";
    }

    [DoesNotReturn]
    private static void ThrowDefault() => EndedErrors.ThrowDefault("tree", nameof(WriteTransaction.OpenIdTree));
}
