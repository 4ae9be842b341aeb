using System.Buffers;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Voron.Format;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>An entry of a tree: a view of its key and its value, without a copy.</summary>
/// <remarks>
/// <para>
/// The view is valid until its transaction ends, and in a write transaction until the tree changes. Each member checks this, and throws otherwise.
/// The returned spans point into the tree's own memory, and their use is not checked: the compiler confines them to the block that declares the entry
/// variable. To keep data longer, keep the entry, or copy the bytes with <c>ToArray</c>.
/// </para>
/// <code>
/// foreach (var entry in tree.Prefix("user/"u8))
///     names.Add(Encoding.UTF8.GetString(entry.Value));
/// </code>
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly unsafe ref struct TreeEntry
{
    /// <summary>A large value is copied and verified in pieces. Each piece consists of the bytes that share a checksum.</summary>
    private const int PieceBytes = LargeExtentReference.ChunkBytes;

    private readonly TransactionTree? _tree;
    private readonly long _generation;
    private readonly long _changes;
    private readonly byte* _record;

    // Keeps the decompressed value while it is on the entry; null for an entry found without a cursor.
    private readonly TreeCursor? _cursor;

    private TreeEntry(TransactionTree tree, long generation, byte* record, TreeCursor? cursor = null)
    {
        _tree = tree;
        _cursor = cursor;
        _generation = generation;
        _changes = tree.StateAsIs.ChangeCount;
        _record = record;
    }

    /// <summary>The key.</summary>
    /// <exception cref="ObjectDisposedException">The transaction has ended.</exception>
    /// <exception cref="InvalidOperationException">The tree has changed since the entry was read, or there is no entry.</exception>
    public ReadOnlySpan<byte> Key
    {
        [UnscopedRef]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get => LeafPage.Key(Record);
    }

    /// <summary>The value. A long value is read from its own pages, and verified, on access.</summary>
    /// <remarks>
    /// If the entry comes from a cursor or an enumeration, a compressed value is valid until the next move. After that, the same entry, or an entry
    /// found by its key, can return it again: the transaction then keeps such values in memory until it ends, up to 64 MiB in total.
    /// </remarks>
    /// <exception cref="CorruptionException">The value is damaged.</exception>
    /// <exception cref="InvalidOperationException">
    /// The tree has changed since the entry was read, there is no entry, or the decompressed values that the transaction keeps would exceed 64 MiB.
    /// </exception>
    /// <inheritdoc cref="Key"/>
    public ReadOnlySpan<byte> Value
    {
        [UnscopedRef]
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var record = Record;
            return LeafPage.Kind(record) == ValueKind.Inline
                ? new ReadOnlySpan<byte>(LeafPage.InlineBytes(record), LeafPage.InlineLength(record))
                : ReadElsewhere();
        }
    }

    /// <summary>The length of the value in bytes, known without reading its pages.</summary>
    /// <inheritdoc cref="Key"/>
    public long ValueLength => LeafValue.Length(Record);

    /// <summary>
    /// Returns the entry of a cursor. It has no key and no value if the cursor is not on an entry, or has released it before a change.
    /// </summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal static TreeEntry At(TransactionTree? tree, long generation, TreeCursor? cursor) =>
        tree == null || cursor == null ? default : new TreeEntry(tree, generation, cursor.RecordIfAny, cursor);

    /// <summary>Returns the entry of a cursor that is about to be closed.</summary>
    internal static TreeEntry Detached(TransactionTree tree, long generation, TreeCursor cursor) => new(tree, generation, cursor.RecordIfAny);

    /// <summary>
    /// Returns an entry without a key and a value, for a place that has none. Its members report whether the transaction has ended.
    /// </summary>
    internal static TreeEntry None(TransactionTree? tree, long generation) => tree == null ? default : new TreeEntry(tree, generation, record: null);

    /// <summary>Finds an entry; false when the tree does not contain the key.</summary>
    internal static bool TryFind(TransactionTree tree, scoped ReadOnlySpan<byte> key, out TreeEntry entry)
    {
        var record = TreeReader.Find(tree.SettledState(), tree.Owner.Pages, key);
        entry = record == null ? default : new TreeEntry(tree, tree.Generation, record);
        return record != null;
    }

    private byte* Record
    {
        [MethodImpl(MethodImplOptions.AggressiveInlining)]
        get
        {
            var tree = _tree;
            if (tree == null || _record == null)
                ThrowNone();
            tree.ThrowIfClosed(_generation);
            if (tree.StateAsIs.ChangeCount != _changes)
                ThrowChanged();
            return _record;
        }
    }

    /// <summary>Copies the value. A large one is copied in pieces, so the writer need not provide a buffer for all of it.</summary>
    /// <remarks>If the writer throws, or changes the tree, it has received a part of the value.</remarks>
    /// <param name="destination">Receives the bytes.</param>
    /// <exception cref="ArgumentException">The writer returns an empty buffer.</exception>
    /// <exception cref="CorruptionException">The value is damaged.</exception>
    /// <inheritdoc cref="Key"/>
    public void CopyValueTo(IBufferWriter<byte> destination)
    {
        ArgumentNullException.ThrowIfNull(destination);
        CopyValueTo(destination, nameof(destination));
    }

    /// <param name="destination">Receives the bytes.</param>
    /// <param name="parameter">The name of the caller's parameter, for messages.</param>
    internal void CopyValueTo(IBufferWriter<byte> destination, string parameter)
    {
        var length = ValueLength;
        for (long copied = 0; copied < length;)
        {
            // The writer is user code, so the transaction is not marked as in use while it runs, and the entry is checked again afterwards.
            var wanted = (int)Math.Min(length - copied, PieceBytes);
            var buffer = destination.GetSpan(wanted);
            if (buffer.IsEmpty)
                throw new ArgumentException($"The buffer writer returned no room for {wanted} bytes.", parameter);
            var count = Math.Min(wanted, buffer.Length);
            CopyPart(copied, buffer[..count]);
            destination.Advance(count);
            copied += count;
        }
    }

    /// <summary>Copies the value; false, with nothing written, when the destination is shorter than <see cref="ValueLength"/>.</summary>
    /// <param name="destination">Receives the bytes.</param>
    /// <param name="bytesWritten">The length of the value; 0 when it was not copied.</param>
    /// <exception cref="CorruptionException">The value is damaged.</exception>
    /// <inheritdoc cref="Key"/>
    public bool TryCopyValueTo(Span<byte> destination, out int bytesWritten)
    {
        var length = ValueLength;
        var fits = length <= destination.Length;
        bytesWritten = fits ? (int)length : 0;
        if (fits)
            CopyPart(0, destination[..bytesWritten]);
        return fits;
    }

    /// <summary>
    /// Describes the entry by its key and the beginning of its value, as text, or in hexadecimal if they are not printable UTF-8. A value stored in
    /// separate pages is described by its length. Throws nothing: if the transaction has ended or the tree has changed, the text says so.
    /// </summary>
    public override string ToString() =>
        _tree == null || _record == null ? "entry (none)"
        : _tree.DescribeEntry(_generation, _changes, _record) is { } text ? $"entry {text}"
        : "entry (its transaction has ended, or the tree has changed)";

    /// <summary>Returns a copy of the value.</summary>
    internal byte[] CopyValue()
    {
        var copy = NewArray(ValueLength);
        CopyPart(0, copy);
        return copy;
    }

    /// <summary>Returns an array for a value.</summary>
    /// <exception cref="InvalidOperationException">The value is longer than the longest array, by up to 56 bytes.</exception>
    internal static byte[] NewArray(long length) => length <= Array.MaxLength
        ? GC.AllocateUninitializedArray<byte>((int)length)
        : throw new InvalidOperationException(
            $"The value has {length} bytes, and an array has at most {Array.MaxLength}. Read it as a stream, or with a buffer writer.");

    /// <summary>Copies a part of the value while a mark keeps other threads from ending the transaction.</summary>
    private void CopyPart(long offset, scoped Span<byte> destination)
    {
        _ = Record;
        var owner = _tree!.Owner;
        var mark = owner.Enter();
        try
        {
            LeafValue.CopyPart(owner.Pages, Record, _tree.StateAsIs.TreeId, offset, destination);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private ReadOnlySpan<byte> ReadElsewhere()
    {
        var owner = _tree!.Owner;
        var mark = owner.Enter();
        try
        {
            // An entry may be kept after its cursor has moved. Its value then stays in the memory of the transaction.
            var record = Record;
            return _cursor != null && _cursor.RecordIfAny == record && LeafPage.Packed(record) != null
                ? _cursor.Value
                : LeafValue.Read(owner.Pages, record, _tree.StateAsIs.TreeId);
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    [DoesNotReturn]
    private void ThrowNone()
    {
        _tree?.ThrowIfClosed(_generation);
        throw new InvalidOperationException("There is no entry here: none was found, or the range is not on one.");
    }

    [DoesNotReturn]
    private static void ThrowChanged() => throw new InvalidOperationException(
        "The tree has changed since this entry was read, and its bytes may be gone. Copy the key or the value before changing the tree.");
}
