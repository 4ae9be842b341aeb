using System.Buffers;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>A readable tree: keys in the order of their bytes, each with a value.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. In a write transaction, it sees the transaction's own changes. After the transaction has deleted the
/// tree, calls throw an <see cref="InvalidOperationException"/>.
/// </remarks>
public readonly partial struct Tree
{
    private readonly OpenTree _tree;
    private readonly long _generation;

    internal Tree(OpenTree tree, long generation)
    {
        _tree = tree;
        _generation = generation;
    }

    /// <summary>The number of entries, known without a scan of the tree. It includes the waiting puts of the transaction.</summary>
    public long Count => Opened.SettledState().EntryCount;

    /// <summary>The name of the tree.</summary>
    public string Name => Catalog.Decode(Opened.Name);

    /// <summary>Returns the numbers of entries and levels, and of pages by kind. Applies the waiting puts of the transaction first.</summary>
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

    /// <summary>Reads the value of a key without copying it; false when the tree does not contain the key.</summary>
    /// <remarks>
    /// This is the fastest way to read. The span points into the tree's own memory, and its use is not checked: after the transaction has ended, the
    /// bytes may show other data, and after the environment has been closed, reading them may end the process. The compiler therefore confines the
    /// span to the block that declares the tree variable; a span variable declared earlier must be <c>scoped</c>. A span read through a class field
    /// is not confined. A compressed value is decompressed into memory that the transaction keeps until it ends, up to 64 MiB in total.
    /// <see cref="Get"/> and <see cref="TryGet(ReadOnlySpan{byte}, IBufferWriter{byte})"/> return copies.
    /// </remarks>
    /// <param name="key">The key.</param>
    /// <param name="value">
    /// The value's own bytes, not a copy: valid until the transaction is disposed, or in a write transaction until its next write.
    /// </param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">
    /// The decompressed values that the transaction keeps would exceed 64 MiB, or the tree has been deleted in this transaction.
    /// </exception>
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

    /// <summary>Returns a copy of the value of a key; null when the tree does not contain the key.</summary>
    /// <param name="key">The key.</param>
    /// <exception cref="InvalidOperationException">
    /// The value is longer than the longest array, 2,147,483,591 bytes, or the tree has been deleted in this transaction.
    /// </exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public byte[]? Get(ReadOnlySpan<byte> key) => TryGetEntry(key, out var entry) ? entry.CopyValue() : null;

    /// <summary>Copies the value of a key to a buffer writer, a large one in pieces; false when the tree does not contain the key.</summary>
    /// <remarks>If the writer throws, or changes the tree, it has received a part of the value.</remarks>
    /// <param name="key">The key.</param>
    /// <param name="destination">Receives the bytes.</param>
    /// <exception cref="ArgumentException">The writer returns an empty buffer.</exception>
    /// <exception cref="InvalidOperationException">The writer has changed the tree, or the tree has been deleted in this transaction.</exception>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGet(ReadOnlySpan<byte> key, IBufferWriter<byte> destination)
    {
        ArgumentNullException.ThrowIfNull(destination);
        var found = TryGetEntry(key, out var entry);
        if (found)
            entry.CopyValueTo(destination);
        return found;
    }

    /// <summary>
    /// Copies the value of a key; false, with nothing written, when the tree does not contain the key or when the destination is too short.
    /// <see cref="TryGetLength"/> distinguishes the two, and returns the length that the destination needs.
    /// </summary>
    /// <param name="key">The key.</param>
    /// <param name="destination">Receives the bytes.</param>
    /// <param name="bytesWritten">The length of the value; 0 when it was not copied.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryCopyTo(ReadOnlySpan<byte> key, Span<byte> destination, out int bytesWritten)
    {
        bytesWritten = 0;
        return TryGetEntry(key, out var entry) && entry.TryCopyValueTo(destination, out bytesWritten);
    }

    /// <summary>Gets the length of the value of a key without reading the value; false when the tree does not contain the key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="length">The length in bytes; 0 when there is no such key.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryGetLength(ReadOnlySpan<byte> key, out long length)
    {
        var found = TryGetEntry(key, out var entry);
        length = found ? entry.ValueLength : 0;
        return found;
    }

    /// <summary>Gets the entry of a key; false when the tree does not contain the key.</summary>
    /// <param name="key">The key.</param>
    /// <param name="entry">The entry, whose members check that the transaction has not ended.</param>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
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
    /// <remarks>To find the entry below the key, use <c>Range(KeyRange.Before(key)).TryGetLast(out entry)</c>.</remarks>
    /// <inheritdoc cref="TryGetEntry"/>
    public bool TryGetFloor(scoped ReadOnlySpan<byte> key, out TreeEntry entry) =>
        TreeRange.TryGetFirst(Opened, _generation, KeyRange.Through(key), RangeSlice.All.Reversed(), out entry);

    /// <summary>Gets the entry with the lowest key that is at least <paramref name="key"/>; false when there is none.</summary>
    /// <remarks>To find the entry above the key, use <c>Range(KeyRange.After(key)).TryGetFirst(out entry)</c>.</remarks>
    /// <inheritdoc cref="TryGetEntry"/>
    public bool TryGetCeiling(scoped ReadOnlySpan<byte> key, out TreeEntry entry) =>
        TreeRange.TryGetFirst(Opened, _generation, KeyRange.From(key), RangeSlice.All, out entry);

    /// <summary>Looks up all keys of a batch, which then contains their values. Several times faster than one lookup after the other.</summary>
    /// <returns>The number of keys that the tree contains.</returns>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">
    /// The decompressed values of the batch would exceed 64 MiB, or the tree has been deleted in this transaction.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
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

    /// <summary>Returns true if the tree contains the key.</summary>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
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

    /// <summary>Returns a cursor that is not on an entry yet. Dispose of it so that it can be reused.</summary>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public Cursor OpenCursor()
    {
        var lease = Opened.OpenCursor(_generation, out var leaseGeneration);
        return new Cursor(lease, leaseGeneration);
    }

    /// <summary>Returns the entries whose keys are in a range, in order, for <c>foreach</c>.</summary>
    /// <param name="keys">The range, such as <c>KeyRange.From(first).Before(end)</c>.</param>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public TreeRange Range(KeyRange keys) => new(Opened, _generation, keys);

    /// <summary>Returns the entries whose keys begin with <paramref name="prefix"/>, in order.</summary>
    /// <inheritdoc cref="Range"/>
    public TreeRange Prefix(ReadOnlySpan<byte> prefix) => new(Opened, _generation, KeyRange.Prefix(prefix));

    /// <summary>Returns all entries, in order.</summary>
    /// <inheritdoc cref="Range"/>
    public TreeRange GetEntries() => new(Opened, _generation, KeyRange.All);

    /// <summary>Opens the value of a key as a stream, which verifies the value as it is read; false when the tree does not contain the key.</summary>
    /// <remarks>
    /// The stream is valid until the transaction ends. In a write transaction, reading it throws an <see cref="InvalidOperationException"/> if the
    /// tree has changed since the stream was opened. A large value that was written to the data file directly
    /// (<see cref="StorageOptions.LargeValueBytes"/>) is an exception: it can still be read while it is stored there and the transaction has not been
    /// rolled back to a savepoint since.
    /// </remarks>
    /// <exception cref="CorruptionException">A page is damaged.</exception>
    /// <exception cref="InvalidOperationException">The tree has been deleted in this transaction.</exception>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    public bool TryOpenStream(ReadOnlySpan<byte> key, [NotNullWhen(true)] out Stream? stream)
    {
        stream = ValueStream.TryOpen(Opened, _generation, key);
        return stream != null;
    }

    [DoesNotReturn]
    private static void ThrowDefault() => EndedErrors.ThrowDefault("tree", nameof(WriteTransaction.OpenTree));
}
