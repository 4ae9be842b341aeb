using System.Diagnostics;
using Voron.Transactions;

namespace Voron;

/// <summary>A writable tree of value sets: each key has a set of byte strings in ascending order.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. Each change is applied immediately. Keys and values may be spans returned by the tree.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly struct WriteValueSetTree
{
    private readonly ValueSetTree _tree;

    internal WriteValueSetTree(OpenTree tree) => _tree = new ValueSetTree(tree, tree.Generation);

    /// <inheritdoc cref="ValueSetTree.Count"/>
    public long Count => _tree.Count;

    /// <inheritdoc cref="ValueSetTree.ValueCount"/>
    public long ValueCount => _tree.ValueCount;

    /// <inheritdoc cref="ValueSetTree.MaxValueLength"/>
    public int MaxValueLength => _tree.MaxValueLength;

    /// <inheritdoc cref="ValueSetTree.Name"/>
    public string Name => _tree.Name;

    /// <inheritdoc cref="ValueSetTree.GetStatistics"/>
    public TreeStatistics GetStatistics() => _tree.GetStatistics();

    /// <summary>Returns the same tree, for code that only reads.</summary>
    public ValueSetTree AsReadOnly() => _tree;

    /// <summary>Converts to the same tree, for code that only reads.</summary>
    public static implicit operator ValueSetTree(WriteValueSetTree tree) => tree._tree;

    /// <inheritdoc cref="AsReadOnly"/>
    public ValueSetTree ToValueSetTree() => _tree;

    /// <inheritdoc cref="ValueSetTree.CountOf"/>
    public long CountOf(ReadOnlySpan<byte> key) => _tree.CountOf(key);

    /// <inheritdoc cref="ValueSetTree.Contains"/>
    public bool Contains(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => _tree.Contains(key, value);

    /// <inheritdoc cref="ValueSetTree.OpenValues"/>
    public ValueCursor OpenValues(ReadOnlySpan<byte> key) => _tree.OpenValues(key);

    /// <inheritdoc cref="ValueSetTree.OpenCursor"/>
    public ValueSetCursor OpenCursor() => _tree.OpenCursor();

    /// <summary>Adds a value to the set of a key.</summary>
    /// <param name="key">The key, which is created with its first value.</param>
    /// <param name="value">The value: 1 to <see cref="MaxValueLength"/> bytes.</param>
    /// <returns>False, with nothing changed, if the set already contains the value.</returns>
    /// <exception cref="ArgumentException">The key or the value is empty or too long. Nothing was changed.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public bool Add(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => ValueSetAccess.Add(_tree.Opened, key, value);

    /// <summary>Removes a value from the set of a key.</summary>
    /// <param name="key">The key, which is deleted with its last value.</param>
    /// <param name="value">The value: 1 to <see cref="MaxValueLength"/> bytes.</param>
    /// <returns>False, with nothing changed, if the set does not contain the value.</returns>
    /// <inheritdoc cref="Add"/>
    public bool Remove(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => ValueSetAccess.Remove(_tree.Opened, key, value);

    /// <summary>Removes a key with its whole set, and returns the number of its values.</summary>
    /// <remarks>
    /// The pages of a large set are freed in this transaction, so a set of gigabytes makes it a long one, which holds the writer. Remove the values
    /// of such a set in several transactions.
    /// </remarks>
    /// <param name="key">The key.</param>
    /// <exception cref="ArgumentException">The key is empty or too long. Nothing was changed.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public long RemoveAll(ReadOnlySpan<byte> key) => ValueSetAccess.RemoveAll(_tree.Opened, key);

    /// <summary>Removes all keys of a range with their sets.</summary>
    /// <param name="range">The keys to remove.</param>
    /// <returns>The number of keys removed.</returns>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public long DeleteRange(KeyRange range) => ValueSetAccess.DeleteRange(_tree.Opened, range.Start, range.End);

    /// <summary>Removes all keys with their sets. The tree itself remains, and its handles and cursors stay valid.</summary>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public void Clear() => ValueSetAccess.Clear(_tree.Opened);

    /// <inheritdoc cref="ValueSetTree.ToString"/>
    public override string ToString() => _tree.ToString();
}
