using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using Voron.Transactions;

namespace Voron;

/// <summary>A writable fixed-size tree whose values are read as a type, in place.</summary>
/// <typeparam name="T">A type without references. Its bytes, padding included, are the value.</typeparam>
/// <remarks>A handle, valid until its transaction ends: see <see cref="WriteFixedTree"/>.</remarks>
public readonly struct WriteFixedTree<T>
    where T : unmanaged
{
    private readonly WriteFixedTree _tree;

    /// <inheritdoc cref="FixedTree{T}(FixedTree)"/>
    public WriteFixedTree(WriteFixedTree tree)
    {
        FixedTreeAccess.CheckType<T>(tree.Opened);
        _tree = tree;
    }

    /// <inheritdoc cref="FixedTree.Count"/>
    public long Count => _tree.Count;

    /// <inheritdoc cref="FixedTree.Name"/>
    public string Name => _tree.Name;

    private FixedTree<T> Reading => new(_tree.AsReadOnly(), default);

    /// <summary>Returns the same tree, with its values as bytes.</summary>
    public WriteFixedTree AsBytes() => _tree;

    /// <summary>Returns the same tree, for code that only reads.</summary>
    public FixedTree<T> AsReadOnly() => Reading;

    /// <summary>Converts to the same tree, for code that only reads.</summary>
    public static implicit operator FixedTree<T>(WriteFixedTree<T> tree) => tree.Reading;

    /// <inheritdoc cref="AsReadOnly"/>
    public FixedTree<T> ToFixedTree() => Reading;

    /// <inheritdoc cref="FixedTree{T}.TryGet"/>
    public bool TryGet(long key, out T value) => Reading.TryGet(key, out value);

    /// <inheritdoc cref="FixedTree{T}.Get"/>
    [UnscopedRef]
    public ref readonly T Get(long key)
    {
        if (!_tree.TryGet(key, out var value))
            throw new KeyNotFoundException($"The tree '{_tree.Name}' does not have the key {key}.");
        return ref FixedTreeAccess.AsReference<T>(value);
    }

    /// <inheritdoc cref="FixedTree.Contains"/>
    public bool Contains(long key) => _tree.Contains(key);

    /// <inheritdoc cref="FixedTree{T}.TryGetFirst"/>
    public bool TryGetFirst(out long found, out T value) => Reading.TryGetFirst(out found, out value);

    /// <inheritdoc cref="FixedTree{T}.TryGetLast"/>
    public bool TryGetLast(out long found, out T value) => Reading.TryGetLast(out found, out value);

    /// <inheritdoc cref="FixedTree{T}.TryGetFloor"/>
    public bool TryGetFloor(long key, out long found, out T value) => Reading.TryGetFloor(key, out found, out value);

    /// <inheritdoc cref="FixedTree{T}.TryGetCeiling"/>
    public bool TryGetCeiling(long key, out long found, out T value) => Reading.TryGetCeiling(key, out found, out value);

    /// <inheritdoc cref="FixedTree{T}.GetMany"/>
    public int GetMany(ReadOnlySpan<long> keys, Span<T> values, Span<bool> found) => Reading.GetMany(keys, values, found);

    /// <inheritdoc cref="FixedTree.Range"/>
    public FixedRange<T> Range(long first, long last) => Reading.Range(first, last);

    /// <inheritdoc cref="FixedTree.GetEntries"/>
    public FixedRange<T> GetEntries() => Reading.GetEntries();

    /// <inheritdoc cref="FixedTree.OpenCursor"/>
    public FixedCursor OpenCursor() => _tree.OpenCursor();

    /// <summary>Sets the value of a key, whether or not the tree already contains it.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The value.</param>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public void Put(long key, in T value) => _tree.Put(key, MemoryMarshal.AsBytes(new ReadOnlySpan<T>(in value)));

    /// <inheritdoc cref="WriteFixedTree.Delete"/>
    public bool Delete(long key) => _tree.Delete(key);

    /// <inheritdoc cref="WriteFixedTree.DeleteRange"/>
    public long DeleteRange(long first, long last) => _tree.DeleteRange(first, last);

    /// <inheritdoc cref="FixedTree.ToString"/>
    public override string ToString() => _tree.ToString();
}
