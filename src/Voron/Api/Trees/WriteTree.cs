using System.Buffers;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.IO.Pipelines;
using System.Runtime.CompilerServices;
using Voron.Transactions;

namespace Voron;

/// <summary>A writable tree: keys in the order of their bytes, each with a value of 0 to 2,147,483,647 bytes.</summary>
/// <remarks>
/// A handle, valid until its transaction ends. Keys have from 1 byte up to a quarter of the page size less 64 bytes: 960 bytes with 4 KiB pages.
/// Spans read through it are valid until the transaction's next write. After an operation has failed partway, changes are refused with an
/// <see cref="InvalidOperationException"/> until the transaction is rolled back, as a whole or to a savepoint.
/// </remarks>
[DebuggerDisplay("{ToString(),nq}")]
public readonly partial struct WriteTree
{
    private readonly Tree _tree;

    internal WriteTree(OpenTree tree) => _tree = new Tree(tree, tree.Generation);

    /// <inheritdoc cref="Tree.Count"/>
    public long Count => _tree.Count;

    /// <summary>The name of the tree.</summary>
    public string Name => _tree.Name;

    /// <inheritdoc cref="Tree.GetStatistics"/>
    public TreeStatistics GetStatistics() => _tree.GetStatistics();

    /// <summary>Returns the same tree, for code that only reads.</summary>
    public Tree AsReadOnly() => _tree;

    /// <summary>Converts to the same tree, for code that only reads.</summary>
    public static implicit operator Tree(WriteTree tree) => tree._tree;

    /// <inheritdoc cref="AsReadOnly"/>
    public Tree ToTree() => _tree;

    /// <inheritdoc cref="Tree.TryGet(ReadOnlySpan{byte}, out ReadOnlySpan{byte})"/>
    [UnscopedRef]
    public bool TryGet(scoped ReadOnlySpan<byte> key, out ReadOnlySpan<byte> value) => _tree.TryGet(key, out value);

    /// <inheritdoc cref="Tree.Get"/>
    public byte[]? Get(ReadOnlySpan<byte> key) => _tree.Get(key);

    /// <inheritdoc cref="Tree.TryGet(ReadOnlySpan{byte}, IBufferWriter{byte})"/>
    public bool TryGet(ReadOnlySpan<byte> key, IBufferWriter<byte> destination) => _tree.TryGet(key, destination);

    /// <inheritdoc cref="Tree.TryCopyTo"/>
    public bool TryCopyTo(ReadOnlySpan<byte> key, Span<byte> destination, out int bytesWritten) =>
        _tree.TryCopyTo(key, destination, out bytesWritten);

    /// <inheritdoc cref="Tree.TryGetLength"/>
    public bool TryGetLength(ReadOnlySpan<byte> key, out long length) => _tree.TryGetLength(key, out length);

    /// <inheritdoc cref="Tree.TryGetEntry"/>
    public bool TryGetEntry(scoped ReadOnlySpan<byte> key, out TreeEntry entry) => _tree.TryGetEntry(key, out entry);

    /// <inheritdoc cref="Tree.TryGetFirst"/>
    public bool TryGetFirst(out TreeEntry entry) => _tree.TryGetFirst(out entry);

    /// <inheritdoc cref="Tree.TryGetLast"/>
    public bool TryGetLast(out TreeEntry entry) => _tree.TryGetLast(out entry);

    /// <inheritdoc cref="Tree.TryGetFloor"/>
    public bool TryGetFloor(scoped ReadOnlySpan<byte> key, out TreeEntry entry) => _tree.TryGetFloor(key, out entry);

    /// <inheritdoc cref="Tree.TryGetCeiling"/>
    public bool TryGetCeiling(scoped ReadOnlySpan<byte> key, out TreeEntry entry) => _tree.TryGetCeiling(key, out entry);

    /// <inheritdoc cref="Tree.GetMany"/>
    public int GetMany(LookupBatch batch) => _tree.GetMany(batch);

    /// <inheritdoc cref="Tree.Contains"/>
    public bool Contains(ReadOnlySpan<byte> key) => _tree.Contains(key);

    /// <inheritdoc cref="Tree.OpenCursor"/>
    public Cursor OpenCursor() => _tree.OpenCursor();

    /// <inheritdoc cref="Tree.Range"/>
    public TreeRange Range(KeyRange keys) => _tree.Range(keys);

    /// <inheritdoc cref="Tree.Prefix"/>
    public TreeRange Prefix(ReadOnlySpan<byte> prefix) => _tree.Prefix(prefix);

    /// <inheritdoc cref="Tree.GetEntries"/>
    public TreeRange GetEntries() => _tree.GetEntries();

    /// <inheritdoc cref="Tree.TryOpenStream"/>
    public bool TryOpenStream(ReadOnlySpan<byte> key, [NotNullWhen(true)] out Stream? stream) => _tree.TryOpenStream(key, out stream);

    /// <summary>Sets the value of a key, whether or not the tree already contains it.</summary>
    /// <remarks>
    /// Small puts are gathered and applied together, at the latest by the next access to the tree, savepoint or commit. If there is not enough space
    /// by then, that call throws.
    /// </remarks>
    /// <exception cref="ArgumentException">The key is empty or too long.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    public void Put(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => TreeAccess.Put(_tree.Opened, key, value);

    /// <summary>Sets the value of a key to a staged value, whether or not the tree already contains the key. The bytes are not copied.</summary>
    /// <remarks>
    /// A staged value can be put once: under one key, in one transaction. When the transaction is rolled back, as a whole or to a savepoint from
    /// before the put, or when its commit fails and it was not committed, the staged value can be put again.
    /// </remarks>
    /// <param name="key">The key.</param>
    /// <param name="value">A value returned by <see cref="StorageEnvironment.StageAsync(Stream, CancellationToken)"/>.</param>
    /// <exception cref="ArgumentException">The key is empty or too long, or the value was staged in another environment.</exception>
    /// <exception cref="InvalidOperationException">The value has been put before.</exception>
    /// <exception cref="ObjectDisposedException">The value was disposed, or the transaction has ended.</exception>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    [OverloadResolutionPriority(-1)] // so that Put(key, default) puts an empty value
    public void Put(ReadOnlySpan<byte> key, StagedValue value)
    {
        ArgumentNullException.ThrowIfNull(value);
        TreeAccess.PutStaged(_tree.Opened, key, value.Content);
    }

    /// <summary>Adds an entry; false, with nothing changed, when the tree already contains the key.</summary>
    /// <inheritdoc cref="Put(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    public bool Insert(ReadOnlySpan<byte> key, ReadOnlySpan<byte> value) => TreeAccess.Insert(_tree.Opened, key, value);

    /// <summary>Sets the length of a key's value, and returns the bytes for the caller to write in place.</summary>
    /// <param name="key">The key.</param>
    /// <param name="length">The length in bytes: less than <see cref="StorageOptions.LargeValueBytes"/>.</param>
    /// <returns>The value's bytes, to be filled before the transaction's next write. Their content is undefined until then.</returns>
    /// <exception cref="ArgumentOutOfRangeException">The length is negative, or the value would be a large one: use a stream.</exception>
    /// <exception cref="InvalidOperationException">A change feed records the tree with its values, which are not known yet: use Put.</exception>
    /// <inheritdoc cref="Put(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    public Span<byte> Reserve(ReadOnlySpan<byte> key, int length) => TreeAccess.Reserve(_tree.Opened, key, length);

    /// <summary>Sets the value of a key to the content of a stream, without keeping it in memory. Its length need not be known.</summary>
    /// <remarks>
    /// A seekable stream reports its length, and its value gets exactly the necessary space. For other streams, the space is doubled as the bytes
    /// arrive, so the value may take up to three times its length until the transaction has been flushed; the excess is then free for other values.
    /// <para>
    /// Until the task completes, the transaction can neither be committed nor create a savepoint; a rollback ends the put, and the task fails.
    /// The stream may be read on any thread, and the transaction is used on that thread: meanwhile, nothing else may use the transaction except
    /// the stream itself.
    /// </para>
    /// <para>
    /// No other transaction can write until the stream has ended and the transaction has been committed. For a source that may be slow, such as a
    /// request body, use <see cref="StorageEnvironment.StageAsync(Stream, CancellationToken)"/>, and put the staged value.
    /// </para>
    /// </remarks>
    /// <returns>The length of the value in bytes.</returns>
    /// <exception cref="ArgumentException">The stream cannot be read, or holds more than 2,147,483,647 bytes. None of them are kept.</exception>
    /// <inheritdoc cref="Put(ReadOnlySpan{byte}, ReadOnlySpan{byte})"/>
    public ValueTask<long> PutAsync(ReadOnlyMemory<byte> key, Stream value, CancellationToken cancellationToken = default)
    {
        var pipe = ValuePipe.Read(value, ValueStreamWriter.LargestReadBytes, nameof(value), out var knownBytes);
        return PutAsync(key, pipe, knownBytes, cancellationToken);
    }

    /// <summary>Sets the value of a key to the content of a pipe, which is read until it completes.</summary>
    /// <inheritdoc cref="PutAsync(ReadOnlyMemory{byte}, Stream, CancellationToken)"/>
    public ValueTask<long> PutAsync(ReadOnlyMemory<byte> key, PipeReader value, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(value);
        return PutAsync(key, value, knownBytes: 0, cancellationToken);
    }

    /// <summary>Removes an entry; false when the tree does not contain the key.</summary>
    /// <exception cref="StorageFullException">There is no space left; the transaction can only be rolled back.</exception>
    /// <exception cref="CorruptionException">A page is damaged; the transaction can only be rolled back.</exception>
    public bool Delete(ReadOnlySpan<byte> key) => TreeAccess.Delete(_tree.Opened, key);

    /// <inheritdoc cref="Tree.ToString"/>
    public override string ToString() => _tree.ToString();

    private ValueTask<long> PutAsync(ReadOnlyMemory<byte> key, PipeReader value, long knownBytes, CancellationToken cancellationToken)
    {
        var tree = _tree.Opened;
        TreeAccess.Begin(tree, key.Span);
        return new ValueStreamWriter(tree, _tree.Generation, knownBytes).PutAsync(key, value, cancellationToken);
    }
}
