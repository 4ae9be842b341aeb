using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using Voron.Transactions;

namespace Voron;

/// <summary>A fixed-size tree whose values are read as a type, where they are.</summary>
/// <typeparam name="T">A type without references. Its bytes, padding included, are the value.</typeparam>
/// <remarks>A handle, valid until its transaction ends: see <see cref="FixedTree"/>.</remarks>
public readonly struct FixedTree<T>
    where T : unmanaged
{
    private readonly FixedTree _tree;

    /// <summary>Takes the values of a tree as those of the type.</summary>
    /// <param name="tree">The tree.</param>
    /// <exception cref="InvalidOperationException">A value of the type has another size than the values of the tree.</exception>
    /// <exception cref="PlatformNotSupportedException">The processor is big-endian, and the bytes of values are little-endian.</exception>
    public FixedTree(FixedTree tree)
    {
        FixedTreeAccess.CheckType<T>(tree.Opened);
        _tree = tree;
    }

    /// <param name="tree">A tree for which a view of the type has been made before, so that nothing is checked again.</param>
    /// <param name="_">Tells this constructor from the public one.</param>
    internal FixedTree(FixedTree tree, ValueTuple _) => _tree = tree;

    /// <inheritdoc cref="FixedTree.Count"/>
    public long Count => _tree.Count;

    /// <inheritdoc cref="FixedTree.Name"/>
    public string Name => _tree.Name;

    /// <summary>Returns the same tree with values of bytes.</summary>
    public FixedTree AsBytes() => _tree;

    /// <summary>Gets a copy of the value of a key; false when the tree does not have the key.</summary>
    /// <inheritdoc cref="FixedTree.Contains"/>
    public bool TryGet(long key, out T value)
    {
        value = default;
        return _tree.TryCopyTo(key, MemoryMarshal.AsBytes(new Span<T>(ref value)));
    }

    /// <summary>Returns the value of a key without copying it: valid as long as a span that <see cref="FixedTree.TryGet"/> returns.</summary>
    /// <exception cref="KeyNotFoundException">The tree does not have the key.</exception>
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
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGetCeiling(long key, out long found, out T value) => TryGetNear(key, 1, out found, out value);

    /// <param name="keys">The keys, in any order.</param>
    /// <param name="values">Receives the value of each key. Those of missing keys stay as they are.</param>
    /// <param name="found">Receives for each key whether the tree has it.</param>
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
