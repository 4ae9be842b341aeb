using System.Buffers;
using Voron.Transactions;

namespace Voron;

/// <content>Changes of ranges, changes that depend on the old value or return it, and values written piece by piece.</content>
public readonly partial struct WriteTree
{
    /// <summary>Removes all entries of a range of keys.</summary>
    /// <remarks>
    /// Pages entirely inside the range are freed. Leaves are read only if necessary: to find values in separate pages, if the tree has any; otherwise
    /// to keep <see cref="Count"/> exact, from the removed or the remaining leaves, whichever are fewer. Afterwards, cursors in the range are on no
    /// entry, as after <see cref="Delete"/>.
    /// </remarks>
    /// <param name="range">The keys. Its bounds may be keys read from the tree.</param>
    /// <returns>The number of entries removed.</returns>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public long DeleteRange(KeyRange range) => TreeAccess.DeleteRange(_tree.Opened, range.Start, range.End);

    /// <summary>Removes all entries. The tree itself remains, and its handles and cursors stay valid.</summary>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public void Clear() => TreeAccess.Clear(_tree.Opened);

    /// <summary>Sets the value of a key, whether or not the tree already contains it, and returns the old value.</summary>
    /// <returns>A copy of the old value; null if the tree did not contain the key.</returns>
    /// <exception cref="InvalidOperationException">
    /// The old value is longer than the longest array, 2,147,483,591 bytes. Nothing was changed.
    /// </exception>
    /// <inheritdoc cref="Insert"/>
    public byte[]? Exchange(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value)
    {
        var tree = _tree.Opened;
        TreeAccess.Begin(tree, key);
        var old = _tree.Get(key);
        TreeAccess.PutNow(tree, key, value);
        return old;
    }

    /// <summary>Sets the value of a key, whether or not the tree already contains it, and copies the old value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The new value.</param>
    /// <param name="oldValue">Receives the old value before the new one is stored. It must not change the tree.</param>
    /// <returns>False if the tree did not contain the key.</returns>
    /// <exception cref="ArgumentException">The key is empty or too long, or the buffer writer returns an empty buffer.</exception>
    /// <exception cref="InvalidOperationException">The buffer writer has changed the tree. The value was not set.</exception>
    /// <inheritdoc cref="Insert"/>
    public bool Exchange(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, IBufferWriter<byte> oldValue)
    {
        ArgumentNullException.ThrowIfNull(oldValue);
        var tree = _tree.Opened;
        TreeAccess.Begin(tree, key);
        var found = TryCopy(key, oldValue);
        TreeAccess.PutNow(tree, key, value);
        return found;
    }

    /// <summary>Removes an entry and returns its value.</summary>
    /// <returns>A copy of the value; null if the tree does not contain the key.</returns>
    /// <exception cref="InvalidOperationException">The value is longer than the longest array, 2,147,483,591 bytes. Nothing was changed.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged. If the removal had begun, the transaction can only be rolled back.</exception>
    public byte[]? Remove(ReadOnlySpan<byte> key)
    {
        var tree = _tree.Opened;
        tree.Owner.Write!.ThrowIfBroken();
        var old = _tree.Get(key);
        if (old != null)
            TreeAccess.Delete(tree, key);
        return old;
    }

    /// <summary>Removes an entry and copies its value.</summary>
    /// <param name="key">The key.</param>
    /// <param name="oldValue">Receives the value before the entry is removed. It must not change the tree.</param>
    /// <returns>False if the tree does not contain the key.</returns>
    /// <exception cref="ArgumentException">The buffer writer returns an empty buffer.</exception>
    /// <exception cref="InvalidOperationException">The buffer writer has changed the tree. The entry was not removed.</exception>
    public bool Remove(ReadOnlySpan<byte> key, IBufferWriter<byte> oldValue)
    {
        ArgumentNullException.ThrowIfNull(oldValue);
        var tree = _tree.Opened;
        tree.Owner.Write!.ThrowIfBroken();
        return TryCopy(key, oldValue) && TreeAccess.Delete(tree, key);
    }

    /// <summary>Sets the value of a key if its current value is the expected one.</summary>
    /// <remarks>The arguments are in the order of <see cref="Interlocked.CompareExchange(ref long, long, long)"/>.</remarks>
    /// <param name="key">The key.</param>
    /// <param name="value">The new value.</param>
    /// <param name="expected">The value that the key must have. An empty span is an empty value, not a missing one.</param>
    /// <returns>False, with nothing changed, if the key has another value, or the tree does not contain it.</returns>
    /// <inheritdoc cref="Insert"/>
    public bool CompareExchange(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, ReadOnlySpan<byte> expected) =>
        TreeUpdater.CompareExchange(_tree.Opened, key, value, expected);

    /// <summary>Sets the value of a key if its current value is the expected one, or if the key is missing and expected to be.</summary>
    /// <param name="key">The key.</param>
    /// <param name="value">The new value.</param>
    /// <param name="expected">The value that the key must have; null if the tree must not have the key.</param>
    /// <returns>
    /// False, with nothing changed, if the key has another value, is missing although a value is expected, or exists although none is expected.
    /// </returns>
    /// <inheritdoc cref="CompareExchange(ReadOnlySpan{byte}, ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    public bool CompareExchange(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value, byte[]? expected) =>
        expected == null ? TreeAccess.Insert(_tree.Opened, key, value) : TreeUpdater.CompareExchange(_tree.Opened, key, value, expected);

    /// <summary>Adds to a counter: a value of eight bytes, a signed integer in little-endian order. A missing counter is 0.</summary>
    /// <param name="key">The key.</param>
    /// <param name="delta">The number to add, which may be negative.</param>
    /// <returns>The new value of the counter.</returns>
    /// <exception cref="InvalidOperationException">The value of the key does not have eight bytes. Nothing was changed.</exception>
    /// <exception cref="OverflowException">The sum is outside the range of a 64-bit integer. Nothing was changed.</exception>
    /// <inheritdoc cref="Insert"/>
    public long Add(ReadOnlySpan<byte> key, long delta) => TreeUpdater.Add(_tree.Opened, key, delta);

    /// <summary>Adds to a counter, an eight-byte signed integer in little-endian order, without returning its value.</summary>
    /// <remarks>
    /// Like a put, an increment waits until the tree is read or the transaction commits, and is then applied together with others. Many increments of
    /// one key become one change. If a counter cannot be changed, the call that applies the increment throws: this call, a later one of the
    /// transaction, or the commit. Use <see cref="Add"/> if the value may not be a counter.
    /// </remarks>
    /// <param name="key">The key. A missing counter is 0.</param>
    /// <param name="delta">The number to add, which may be negative.</param>
    /// <exception cref="InvalidOperationException">
    /// The value of the key does not have eight bytes; the transaction can only be rolled back. Later calls of the transaction may throw it.
    /// </exception>
    /// <exception cref="OverflowException">
    /// A sum is outside the range of a 64-bit integer; the transaction can only be rolled back. Later calls of the transaction may throw it.
    /// </exception>
    /// <inheritdoc cref="Insert"/>
    public void Increment(ReadOnlySpan<byte> key, long delta = 1) => TreeUpdater.Increment(_tree.Opened, key, delta);

    /// <summary>Removes an entry if its value is the expected one.</summary>
    /// <param name="key">The key.</param>
    /// <param name="expected">The value that the key must have. An empty span is an empty value, not a missing one.</param>
    /// <returns>False, with nothing changed, if the key has another value, or the tree does not contain it.</returns>
    /// <exception cref="CorruptionException">A page is damaged. If the removal had begun, the transaction can only be rolled back.</exception>
    public bool DeleteIf(ReadOnlySpan<byte> key, ReadOnlySpan<byte> expected) => TreeUpdater.DeleteIf(_tree.Opened, key, expected);

    /// <summary>Opens a writer for a value whose length is not known yet. The value is set when the writer is completed.</summary>
    /// <remarks>
    /// The space of a large value is doubled as the bytes arrive, so the value may take up to three times its length until the transaction has
    /// been flushed; the excess is then free for other values. If the length is known, <c>PutAsync</c> with a seekable stream takes only the space
    /// that the value needs.
    /// </remarks>
    /// <returns>A buffer writer. Dispose of it in any case, so that it ends even if it is not completed.</returns>
    /// <exception cref="ArgumentException">The key is empty or too long.</exception>
    public ValueWriter OpenWriter(ReadOnlySpan<byte> key) => new(ValueWriterLease.Open(_tree.Opened, _tree.Generation, key));

    /// <summary>Copies the old value to the caller's buffer writer, whose methods may do anything, even use this transaction.</summary>
    private bool TryCopy(ReadOnlySpan<byte> key, IBufferWriter<byte> oldValue)
    {
        var tree = _tree.Opened;
        if (!_tree.TryGetEntry(key, out var entry))
            return false;
        var changes = tree.StateAsIs.ChangeCount;
        entry.CopyValueTo(oldValue, nameof(oldValue));
        tree.ThrowIfClosed(_tree.Generation);
        tree.Owner.Write!.ThrowIfBroken();
        if (tree.StateAsIs.ChangeCount != changes || tree.HasWaitingPuts)
            throw new InvalidOperationException("The buffer writer for the old value has changed the tree, which it must not do.");
        return true;
    }
}
