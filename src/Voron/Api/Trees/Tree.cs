using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>A tree that can be read: keys in the order of their bytes, each with a value.</summary>
/// <remarks>A handle, valid until its transaction ends. In a write transaction it sees what the transaction has written.</remarks>
public readonly partial struct Tree
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
    public TreeStatistics GetStatistics() => Opened.GetStatistics();

    internal long Generation => _generation;

    /// <summary>True if the tree has been deleted in this transaction.</summary>
    /// <exception cref="ObjectDisposedException">
    /// The transaction has ended, or was rolled back to a savepoint that is older than the handle.
    /// </exception>
    internal bool IsDeleted
    {
        get
        {
            var isDeleted = _tree.Generation == _generation && _tree.IsDropped;
            if (!isDeleted)
                _tree.ThrowIfClosed(_generation);
            return isDeleted;
        }
    }

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

    /// <summary>Reads the value of a key without copying it; false when the tree does not have the key.</summary>
    /// <remarks>
    /// The fastest way to read. The span points into the tree's own memory, which nothing checks: after the transaction has ended, the bytes may show
    /// other data, and after the environment has been closed, reading them may end the process. The compiler therefore keeps the span inside the
    /// block that declares the tree variable; a variable declared earlier must be <c>scoped</c>. A span read through a class field is not checked. A
    /// compressed value is decompressed into memory that the transaction keeps until it ends, up to 64 MiB. <see cref="Get"/> and
    /// <see cref="TryGet(ReadOnlySpan{byte}, IBufferWriter{byte})"/> return copies.
    /// </remarks>
    /// <param name="key">The key.</param>
    /// <param name="value">
    /// The value's own bytes, not a copy: valid until the transaction is disposed, or in a write transaction until its next write.
    /// </param>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    /// <exception cref="InvalidOperationException">The transaction keeps 64 MiB of compressed values already.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    [UnscopedRef]
    public bool TryGet(scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value)
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

    /// <summary>Returns a copy of the value of a key; null when the tree does not have the key.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="InvalidOperationException">The value is longer than an array can be: one of the 56 longest lengths.</exception>
    /// <exception cref="CorruptionException">A page on the way is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public byte[]? Get(ReadOnlySpan<byte> key) => TryGetEntry(key, out var entry) ? entry.CopyValue() : null;

    /// <summary>Copies the value of a key to a buffer writer, a large one in pieces; false when the tree does not have the key.</summary>
    /// <remarks>If the writer throws, or changes the tree, it has received a part of the value.</remarks>
    /// <param name="key">The key.</param>
    /// <param name="destination">Receives the bytes.</param>
    /// <exception cref="ArgumentException">The writer returns an empty buffer.</exception>
    /// <exception cref="InvalidOperationException">The writer has changed the tree.</exception>
    /// <inheritdoc cref="Get"/>
    public bool TryGet(ReadOnlySpan<byte> key, IBufferWriter<byte> destination)
    {
        ArgumentNullException.ThrowIfNull(destination);
        var found = TryGetEntry(key, out var entry);
        if (found)
            entry.CopyValueTo(destination);
        return found;
    }

    /// <summary>
    /// Copies the value of a key; false, with nothing written, when the tree does not have the key or when the destination is too short.
    /// <see cref="TryGetLength"/> distinguishes the two, and returns the length that the destination needs.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">Receives the bytes.</param>
    /// <param name="bytesWritten">The length of the value; 0 when it was not copied.</param>
    /// <inheritdoc cref="Get"/>
    public bool TryCopyTo(ReadOnlySpan<byte> key, Span<byte> destination, out int bytesWritten)
    {
        bytesWritten = 0;
        return TryGetEntry(key, out var entry) && entry.TryCopyValueTo(destination, out bytesWritten);
    }

    /// <summary>Gets the length of the value of a key without reading the value; false when the tree does not have the key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="length">The length in bytes; 0 when there is no such key.</param>
    /// <inheritdoc cref="Get"/>
    public bool TryGetLength(ReadOnlySpan<byte> key, out long length)
    {
        var found = TryGetEntry(key, out var entry);
        length = found ? entry.ValueLength : 0;
        return found;
    }

    /// <summary>Gets the entry with a key; false when the tree does not have the key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="entry">The entry, whose members check that the transaction has not ended.</param>
    /// <inheritdoc cref="Get"/>
    public bool TryGetEntry(scoped ReadOnlySpan<byte> key, out TreeEntry entry)
    {
        var tree = Opened;
        var owner = tree.Owner;
        var mark = owner.Enter();
        try
        {
            tree.ThrowIfClosed(_generation);
            return TreeEntry.TryFind(tree, key, out entry);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    /// <summary>Gets the entry with the lowest key; false when the tree is empty.</summary>
    /// <inheritdoc cref="TryGetEntry"/>
    public bool TryGetFirst(out TreeEntry entry) => GetEntries().TryGetFirst(out entry);

    /// <summary>Gets the entry with the highest key; false when the tree is empty.</summary>
    /// <inheritdoc cref="TryGetEntry"/>
    public bool TryGetLast(out TreeEntry entry) => GetEntries().TryGetLast(out entry);

    /// <summary>Gets the entry with the highest key that is at most <paramref name="key"/>; false when there is none.</summary>
    /// <remarks>For the entry below the key, use <c>Range(KeyRange.Before(key)).TryGetLast(out entry)</c>.</remarks>
    /// <inheritdoc cref="TryGetEntry"/>
    public bool TryGetFloor(scoped ReadOnlySpan<byte> key, out TreeEntry entry) =>
        TreeRange.TryGetFirst(Opened, _generation, KeyRange.Through(key), RangeSlice.All.Reversed(), out entry);

    /// <summary>Gets the entry with the lowest key that is at least <paramref name="key"/>; false when there is none.</summary>
    /// <remarks>For the entry above the key, use <c>Range(KeyRange.After(key)).TryGetFirst(out entry)</c>.</remarks>
    /// <inheritdoc cref="TryGetEntry"/>
    public bool TryGetCeiling(scoped ReadOnlySpan<byte> key, out TreeEntry entry) =>
        TreeRange.TryGetFirst(Opened, _generation, KeyRange.From(key), RangeSlice.All, out entry);

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

    /// <summary>Returns the entries whose keys are in a range, in order, to be enumerated by <c>foreach</c>.</summary>
    /// <param name="keys">The range, such as <c>KeyRange.From(first).Before(end)</c>.</param>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public TreeRange Range(KeyRange keys) => new(Opened, _generation, keys);

    /// <summary>Returns the entries whose keys begin with <paramref name="prefix"/>, in order.</summary>
    /// <inheritdoc cref="Range"/>
    public TreeRange Prefix(ReadOnlySpan<byte> prefix) => new(Opened, _generation, KeyRange.Prefix(prefix));

    /// <summary>Returns all entries, in order.</summary>
    /// <inheritdoc cref="Range"/>
    public TreeRange GetEntries() => new(Opened, _generation, KeyRange.All);

    /// <summary>Opens the value of a key as a stream, which reads and verifies as it goes; false when the tree does not have it.</summary>
    /// <remarks>
    /// The stream is valid until the transaction ends. In a write transaction it throws <see cref="InvalidOperationException"/> if the tree has
    /// been changed since it was opened, unless its value is a large one that was written to the data file directly
    /// (<see cref="StorageOptions.LargeValueBytes"/>) and is still there, and the transaction has not been rolled back to a savepoint since.
    /// </remarks>
    public bool TryOpenStream(ReadOnlySpan<byte> key, [NotNullWhen(true)] out Stream? stream)
    {
        stream = ValueStream.TryOpen(Opened, _generation, key);
        return stream != null;
    }

    [DoesNotReturn]
    private static void ThrowDefault() => EndedErrors.ThrowDefault("tree", nameof(WriteTransaction.OpenTree));
}
