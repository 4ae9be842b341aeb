using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.IdSets;

namespace Voron;

/// <summary>A readable tree of id sets: each key has a set of 64-bit ids in ascending order, each with a byte of payload.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. In a write transaction, it sees the transaction's own changes. Ids range from 0 to 2^63 - 1. A key
/// with an empty set does not exist.
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

    /// <summary>The number of keys, known without a scan of the tree.</summary>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long Count => Opened.SettledState().EntryCount;

    /// <summary>The number of ids in all sets, known without a scan of the tree.</summary>
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

    /// <summary>Returns the numbers of keys and levels, and of pages by kind.</summary>
    /// <inheritdoc cref="Count"/>
    public TreeStatistics GetStatistics() => Opened.GetStatistics();

    /// <summary>Returns the number of ids of a key; 0 when the tree does not contain it. Costs one lookup, whatever the size of the set.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public long CountOf(ReadOnlySpan<byte> key)
    {
        using var call = new ReadingCall(Opened, _generation);
        return IdTreeReader.CountOf(_tree.SettledState(), _tree.Owner.Pages, key);
    }

    /// <summary>Returns true if the set of a key contains an id.</summary>
    /// <inheritdoc cref="TryGetPayload"/>
    public bool Contains(ReadOnlySpan<byte> key, long id) => TryGetPayload(key, id, out _);

    /// <summary>Gets the payload of an id; false when the tree does not contain the key, or its set does not contain the id.</summary>
    /// <param name="key">The key.</param>
    /// <param name="id">The id.</param>
    /// <param name="payload">The payload with which the id was added last; 0 when there is none.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGetPayload(ReadOnlySpan<byte> key, long id, out byte payload)
    {
        using var call = new ReadingCall(Opened, _generation);
        return IdTreeReader.TryFind(_tree.SettledState(), _tree.Owner.Pages, key, id, out payload);
    }

    /// <summary>Returns a cursor over the set of a key, which is not on an id yet. Dispose of it so that it can be reused.</summary>
    /// <remarks>
    /// If the tree does not contain the key, the set is empty. In a write transaction, the key may be added while the cursor is open.
    /// </remarks>
    /// <param name="key">The key, which the cursor copies.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public IdCursor OpenIds(ReadOnlySpan<byte> key) => new(Opened.OpenSet(_generation, key, out var lease), lease);

    /// <summary>
    /// Returns a query for the ids of a key, to be used alone or combined with others. Dispose of it so that its parts can be reused.
    /// </summary>
    /// <inheritdoc cref="OpenIds"/>
    public IdQuery Query(ReadOnlySpan<byte> key) => new(Opened.OpenSet(_generation, key, out var lease), lease);

    /// <summary>Returns a query for a range of the ids of a key. The query subtracts <paramref name="firstId"/> from each id.</summary>
    /// <param name="key">The key.</param>
    /// <param name="firstId">The lowest id.</param>
    /// <param name="lastId">The highest id.</param>
    /// <param name="name">The bytes that <see cref="IdQuery.IsOver"/> uses as the name of the tree.</param>
    internal IdQuery QueryPart(ReadOnlySpan<byte> key, long firstId, long lastId, byte[] name) =>
        new(Opened.OpenSet(_generation, key, out var lease), lease, (firstId, lastId), name);

    /// <summary>Returns a cursor over the keys, which is not on a key yet. Dispose of it so that it can be reused.</summary>
    /// <inheritdoc cref="Count"/>
    public IdKeyCursor OpenCursor()
    {
        var lease = Opened.OpenCursor(_generation, out var leaseGeneration);
        return new IdKeyCursor(lease, leaseGeneration);
    }

    /// <summary>
    /// Describes the tree by its name and its numbers of keys and ids, or says that it has ended. Any thread may call this at any time.
    /// </summary>
    public override string ToString()
    {
        if (_tree is not { IsDropped: false } tree || tree.Generation != _generation)
            return $"id tree ({(_tree == null ? "never opened" : "ended")})";
        var waiting = tree.HasWaitingPuts ? ", and changes that wait to be applied" : "";
        return $"id tree {KeyText.Of(tree.Name)} with {tree.StateAsIs.EntryCount} keys and {tree.StateAsIs.NestedValues} ids{waiting}";
    }

    [DoesNotReturn]
    private static void ThrowDefault() => EndedErrors.ThrowDefault("tree", nameof(WriteTransaction.OpenIdTree));
}
