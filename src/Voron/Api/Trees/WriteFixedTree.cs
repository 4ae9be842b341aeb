using System.Diagnostics.CodeAnalysis;
using Voron.Transactions;

namespace Voron;

/// <summary>A writable fixed-size tree: 64-bit keys in ascending order, each with a value of the same number of bytes.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. Changes are applied immediately. Keys appended in ascending order cost least. Spans read through it
/// are valid until the transaction's next write.
/// </remarks>
public readonly struct WriteFixedTree
{
    private readonly FixedTree _tree;

    internal WriteFixedTree(OpenTree tree) => _tree = new FixedTree(tree, tree.Generation);

    /// <inheritdoc cref="FixedTree.Count"/>
    public long Count => _tree.Count;

    /// <inheritdoc cref="FixedTree.Name"/>
    public string Name => _tree.Name;

    /// <inheritdoc cref="FixedTree.ValueSize"/>
    public int ValueSize => _tree.ValueSize;

    internal OpenTree Opened => _tree.Opened;

    /// <inheritdoc cref="FixedTree.GetStatistics"/>
    public TreeStatistics GetStatistics() => _tree.GetStatistics();

    /// <summary>Returns the same tree, for code that only reads.</summary>
    public FixedTree AsReadOnly() => _tree;

    /// <summary>Converts to the same tree, for code that only reads.</summary>
    public static implicit operator FixedTree(WriteFixedTree tree) => tree._tree;

    /// <inheritdoc cref="AsReadOnly"/>
    public FixedTree ToFixedTree() => _tree;

    /// <inheritdoc cref="FixedTree.TryGet"/>
    [UnscopedRef]
    public bool TryGet(long key, out ReadOnlySpan<byte> value) => _tree.TryGet(key, out value);

    /// <inheritdoc cref="FixedTree.TryCopyTo"/>
    public bool TryCopyTo(long key, Span<byte> destination) => _tree.TryCopyTo(key, destination);

    /// <inheritdoc cref="FixedTree.Contains"/>
    public bool Contains(long key) => _tree.Contains(key);

    /// <inheritdoc cref="FixedTree.TryGetFirst"/>
    [UnscopedRef]
    public bool TryGetFirst(out long found, out ReadOnlySpan<byte> value) => _tree.TryGetFirst(out found, out value);

    /// <inheritdoc cref="FixedTree.TryGetLast"/>
    [UnscopedRef]
    public bool TryGetLast(out long found, out ReadOnlySpan<byte> value) => _tree.TryGetLast(out found, out value);

    /// <inheritdoc cref="FixedTree.TryGetFloor"/>
    [UnscopedRef]
    public bool TryGetFloor(long key, out long found, out ReadOnlySpan<byte> value) => _tree.TryGetFloor(key, out found, out value);

    /// <inheritdoc cref="FixedTree.TryGetCeiling"/>
    [UnscopedRef]
    public bool TryGetCeiling(long key, out long found, out ReadOnlySpan<byte> value) => _tree.TryGetCeiling(key, out found, out value);

    /// <inheritdoc cref="FixedTree.GetMany"/>
    public int GetMany(ReadOnlySpan<long> keys, Span<byte> values, Span<bool> found) => _tree.GetMany(keys, values, found);

    /// <inheritdoc cref="FixedTree.Range"/>
    public FixedRange Range(long first, long last) => _tree.Range(first, last);

    /// <inheritdoc cref="FixedTree.GetEntries"/>
    public FixedRange GetEntries() => _tree.GetEntries();

    /// <inheritdoc cref="FixedTree.OpenCursor"/>
    public FixedCursor OpenCursor() => _tree.OpenCursor();

    /// <summary>Sets the value of a key, whether or not the tree already contains it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value: <see cref="ValueSize"/> bytes.</param>
    /// <exception cref="ArgumentException">The value has a different size. Nothing was changed.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public void Put(long key, ReadOnlySpan<byte> value) => FixedTreeAccess.Put(_tree.Opened, key, value);

    /// <summary>Removes an entry; false when the tree does not contain the key.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public bool Delete(long key) => FixedTreeAccess.Delete(_tree.Opened, key);

    /// <summary>Removes all entries of a range, and returns their number.</summary>
    /// <remarks>Pages entirely inside the range are freed without being copied or written.</remarks>
    /// <param name="first">The first key of the range.</param>
    /// <param name="last">The last key of the range, included in it.</param>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public long DeleteRange(long first, long last) => FixedTreeAccess.DeleteRange(_tree.Opened, first, last);

    /// <inheritdoc cref="FixedTree.ToString"/>
    public override string ToString() => _tree.ToString();
}
