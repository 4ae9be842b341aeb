using System.Diagnostics;
using Voron.Transactions;
using Voron.Trees.IdSets.Pages;

namespace Voron;

/// <summary>A writable tree of id sets: each key has a set of 64-bit ids in ascending order, each with a byte of payload.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. Additions and removals of single ids wait until the tree is read or the transaction commits. All
/// changes of a set are then applied together. Ids range from 0 to 2^63 - 1.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly partial struct WriteIdTree
{
    private readonly IdTree _tree;

    internal WriteIdTree(OpenTree tree) => _tree = new IdTree(tree, tree.Generation);

    /// <inheritdoc cref="IdTree.Count"/>
    public long Count => _tree.Count;

    /// <inheritdoc cref="IdTree.ValueCount"/>
    public long ValueCount => _tree.ValueCount;

    /// <inheritdoc cref="IdTree.Name"/>
    public string Name => _tree.Name;

    internal OpenTree Opened => _tree.Opened;

    /// <inheritdoc cref="IdTree.GetStatistics"/>
    public TreeStatistics GetStatistics() => _tree.GetStatistics();

    /// <summary>Returns the same tree, for code that only reads.</summary>
    public IdTree AsReadOnly() => _tree;

    /// <summary>Converts to the same tree, for code that only reads.</summary>
    public static implicit operator IdTree(WriteIdTree tree) => tree._tree;

    /// <inheritdoc cref="AsReadOnly"/>
    public IdTree ToIdTree() => _tree;

    /// <inheritdoc cref="IdTree.CountOf"/>
    public long CountOf(ReadOnlySpan<byte> key) => _tree.CountOf(key);

    /// <inheritdoc cref="IdTree.Contains"/>
    public bool Contains(ReadOnlySpan<byte> key, long id) => _tree.Contains(key, id);

    /// <inheritdoc cref="IdTree.TryGetPayload"/>
    public bool TryGetPayload(ReadOnlySpan<byte> key, long id, out byte payload) => _tree.TryGetPayload(key, id, out payload);

    /// <inheritdoc cref="IdTree.OpenIds"/>
    public IdCursor OpenIds(ReadOnlySpan<byte> key) => _tree.OpenIds(key);

    /// <inheritdoc cref="IdTree.Query"/>
    public IdQuery Query(ReadOnlySpan<byte> key) => _tree.Query(key);

    /// <inheritdoc cref="IdTree.OpenCursor"/>
    public IdKeyCursor OpenCursor() => _tree.OpenCursor();

    /// <summary>Adds an id to the set of a key. If the set already contains the id, the id gets the new payload.</summary>
    /// <param name="key">The key, which is created with its first id.</param>
    /// <param name="id">The id: 0 to 2^63 - 1.</param>
    /// <param name="payload">A number chosen by the caller, such as the number of times that a word occurs in a document.</param>
    /// <exception cref="ArgumentException">The key is empty or too long. Nothing was changed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The id is negative. Nothing was changed.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public void Add(ReadOnlySpan<byte> key, long id, byte payload = 0) => IdTreeAccess.Change(_tree.Opened, key, new IdChange(id, payload));

    /// <summary>Removes an id from the set of a key. Nothing changes if the set does not contain the id.</summary>
    /// <param name="key">The key, which is deleted with its last id.</param>
    /// <param name="id">The id: 0 to 2^63 - 1.</param>
    /// <inheritdoc cref="Add"/>
    public void Remove(ReadOnlySpan<byte> key, long id) => IdTreeAccess.Change(_tree.Opened, key, new IdChange(id, IdChange.Removal));

    /// <summary>Adds many ids to the set of a key in one call.</summary>
    /// <param name="key">The key, which is created with its first id.</param>
    /// <param name="ids">The ids in ascending order, each once.</param>
    /// <param name="payloads">A payload for each id; empty for payloads of 0.</param>
    /// <returns>The number of ids that the set did not contain before.</returns>
    /// <exception cref="ArgumentException">
    /// The key is empty or too long, the ids are not in ascending order, or there are payloads, but not one for each id. Nothing was changed.
    /// </exception>
    /// <exception cref="ArgumentOutOfRangeException">An id is negative. Nothing was changed.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public long AddMany(ReadOnlySpan<byte> key, ReadOnlySpan<long> ids, ReadOnlySpan<byte> payloads = default) =>
        IdTreeAccess.AddMany(_tree.Opened, key, ids, payloads);

    /// <summary>Removes many ids from the set of a key in one call.</summary>
    /// <param name="key">The key, which is deleted with its last id.</param>
    /// <param name="ids">The ids in ascending order, each once.</param>
    /// <returns>The number of ids that the set contained before.</returns>
    /// <exception cref="ArgumentException">The key is empty or too long, or the ids are not in ascending order. Nothing was changed.</exception>
    /// <exception cref="ArgumentOutOfRangeException">An id is negative. Nothing was changed.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public long RemoveMany(ReadOnlySpan<byte> key, ReadOnlySpan<long> ids) => IdTreeAccess.RemoveMany(_tree.Opened, key, ids);

    /// <summary>Removes a key with its whole set, and returns the number of its ids.</summary>
    /// <remarks>
    /// All pages of the set are read and freed in this transaction, so a set of gigabytes makes it a long one, which holds the writer. Remove such a
    /// set in parts, with <see cref="RemoveMany"/> in several transactions.
    /// </remarks>
    /// <param name="key">The key.</param>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public long RemoveAll(ReadOnlySpan<byte> key) => IdTreeAccess.RemoveAll(_tree.Opened, key);

    /// <summary>Removes all keys of a range with their sets.</summary>
    /// <param name="range">The keys to remove.</param>
    /// <returns>The number of keys removed.</returns>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public long DeleteRange(KeyRange range) => TreeAccess.DeleteRange(_tree.Opened, range.Start, range.End);

    /// <summary>Removes all keys with their sets. The tree itself remains, and its handles and cursors stay valid.</summary>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public void Clear() => TreeAccess.Clear(_tree.Opened);

    /// <inheritdoc cref="IdTree.ToString"/>
    public override string ToString() => _tree.ToString();
}
