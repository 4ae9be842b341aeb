using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using Voron.Transactions;

namespace Voron;

/// <summary>A fixed-size tree whose values are read as a type, in place.</summary>
/// <typeparam name="T">A type without references. Its bytes, padding included, are the value.</typeparam>
/// <remarks>A handle, valid until its transaction ends: see <see cref="FixedTree"/>.</remarks>
public readonly struct FixedTree<T>
    where T : unmanaged
{
    private readonly FixedTree _tree;

    /// <summary>Creates a view of a tree whose values are of the type.</summary>
    /// <param name="tree">The tree.</param>
    /// <exception cref="InvalidOperationException">The size of the type differs from the value size of the tree.</exception>
    /// <exception cref="PlatformNotSupportedException">The processor is big-endian, but the bytes of values are little-endian.</exception>
    public FixedTree(FixedTree tree)
    {
        FixedTreeAccess.CheckType<T>(tree.Opened);
        _tree = tree;
    }

    /// <param name="tree">A tree that has already been checked for the type.</param>
    /// <param name="_">Distinguishes this constructor from the public one.</param>
    internal FixedTree(FixedTree tree, ValueTuple _) => _tree = tree;

    /// <inheritdoc cref="FixedTree.Count"/>
    public long Count => _tree.Count;

    /// <inheritdoc cref="FixedTree.Name"/>
    public string Name => _tree.Name;

    /// <summary>Returns the same tree, with its values as bytes.</summary>
    public FixedTree AsBytes() => _tree;

    /// <summary>Gets a copy of the value of a key; false when the tree does not contain the key.</summary>
    /// <inheritdoc cref="FixedTree.Contains"/>
    public bool TryGet(long key, out T value)
    {
        value = default;
        return _tree.TryCopyTo(key, MemoryMarshal.AsBytes(new Span<T>(ref value)));
    }

    /// <summary>Returns the value of a key without copying it: valid as long as a span returned by <see cref="FixedTree.TryGet"/>.</summary>
    /// <exception cref="KeyNotFoundException">The tree does not contain the key.</exception>
    /// <inheritdoc cref="FixedTree.Contains"/>
    [UnscopedRef]
    public ref readonly T Get(long key)
    {
        if (!_tree.TryGet(key, out var value))
            throw new KeyNotFoundException($"The tree '{_tree.Name}' does not have the key {key}.");
        return ref FixedTreeAccess.AsReference<T>(value);
    }

    /// <inheritdoc cref="FixedTree.Contains"/>
    public bool Contains(long key) => _tree.Contains(key);

    /// <summary>Gets a copy of the entry with the lowest key; false when the tree is empty.</summary>
    /// <inheritdoc cref="TryGetCeiling"/>
    public bool TryGetFirst(out long found, out T value) => TryGetNear(long.MinValue, 1, out found, out value);

    /// <summary>Gets a copy of the entry with the highest key; false when the tree is empty.</summary>
    /// <inheritdoc cref="TryGetCeiling"/>
    public bool TryGetLast(out long found, out T value) => TryGetNear(long.MaxValue, -1, out found, out value);

    /// <summary>Gets a copy of the entry with the highest key that is at most <paramref name="key"/>; false when there is none.</summary>
    /// <inheritdoc cref="TryGetCeiling"/>
    public bool TryGetFloor(long key, out long found, out T value) => TryGetNear(key, -1, out found, out value);

    /// <summary>Gets a copy of the entry with the lowest key that is at least <paramref name="key"/>; false when there is none.</summary>
    /// <param name="key">The key.</param>
    /// <param name="found">The key of the entry; 0 when there is none.</param>
    /// <param name="value">The value; the default when there is none.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGetCeiling(long key, out long found, out T value) => TryGetNear(key, 1, out found, out value);

    /// <param name="keys">The keys, in any order.</param>
    /// <param name="values">Receives the value of each key. The elements of missing keys stay unchanged.</param>
    /// <param name="found">Receives for each key whether the tree contains it.</param>
    /// <inheritdoc cref="FixedTree.GetMany"/>
    public int GetMany(ReadOnlySpan<long> keys, Span<T> values, Span<bool> found) => _tree.GetMany(keys, MemoryMarshal.AsBytes(values), found);

    /// <inheritdoc cref="FixedTree.Range"/>
    public FixedRange<T> Range(long first, long last) => new(_tree.Range(first, last));

    /// <inheritdoc cref="FixedTree.GetEntries"/>
    public FixedRange<T> GetEntries() => new(_tree.GetEntries());

    /// <inheritdoc cref="FixedTree.OpenCursor"/>
    public FixedCursor OpenCursor() => _tree.OpenCursor();

    /// <inheritdoc cref="FixedTree.ToString"/>
    public override string ToString() => _tree.ToString();

    private bool TryGetNear(long key, int step, out long found, out T value)
    {
        value = default;
        return _tree.TryCopyNear(key, step, out found, MemoryMarshal.AsBytes(new Span<T>(ref value)));
    }
}
