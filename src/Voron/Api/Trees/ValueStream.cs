using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;
using Voron.Trees;
using Voron.Trees.Pages;

namespace Voron;

/// <summary>Reads the value of a key as a stream. Large values are verified as far as they are read.</summary>
/// <remarks>
/// In a write transaction, the value may be changed or freed while the stream is open. The stream therefore remembers the change count that its tree
/// had when the stream was opened. After a change, it looks up its key again: a large value, which is never changed in place, may still be stored in
/// the same pages. Of any other value the stream has only an address, so it ends. It also ends after a rollback to a savepoint, because the pages of
/// an undone value may hold another value by then.
/// </remarks>
internal sealed unsafe class ValueStream : Stream
{
    private readonly OpenTree _tree;
    private readonly long _generation;
    private readonly LargeExtentReference _large;
    private readonly byte* _bytes;
    private readonly long _length;
    private readonly byte[]? _key;
    private readonly byte[]? _unpacked;
    private readonly long _rollbacks;
    private long _changes;
    private long _position;
    private bool _isClosed;

    // The key is needed, and passed, only in a write transaction.
    private ValueStream(OpenTree tree, long generation, byte[]? key, byte* bytes, long length, in LargeExtentReference large)
    {
        _tree = tree;
        _generation = generation;
        _key = key;
        _changes = tree.SettledState().ChangeCount;
        _rollbacks = tree.Owner.Write?.RollbackCount ?? 0;
        _bytes = bytes;
        _length = length;
        _large = large;
    }

    // A compressed value belongs to the stream.
    private ValueStream(OpenTree tree, long generation, byte[]? key, byte[] unpacked)
        : this(tree, generation, key, (byte*)Marshal.UnsafeAddrOfPinnedArrayElement(unpacked, 0), unpacked.Length, default) => _unpacked = unpacked;

    public override bool CanRead => IsOpen;

    public override bool CanSeek => IsOpen;

    public override bool CanWrite => false;

    public override long Length
    {
        get
        {
            ThrowIfEnded();
            return _length;
        }
    }

    public override long Position
    {
        get
        {
            ThrowIfEnded();
            return _position;
        }

        set
        {
            ThrowIfEnded();
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    private bool IsOpen => !_isClosed && _generation == _tree.Generation;

    /// <summary>Opens the value of a key; null when the tree does not have it.</summary>
    /// <param name="tree">The tree.</param>
    /// <param name="generation">The generation of the handle through which the stream is opened.</param>
    /// <param name="key">The key.</param>
    public static ValueStream? TryOpen(OpenTree tree, long generation, ReadOnlySpan<byte> key)
    {
        var mark = tree.Owner.Enter();
        try
        {
            // Checked again: the transaction may have ended before it was entered.
            tree.ThrowIfClosed(generation);
            return Find(tree, generation, key);
        }
        finally
        {
            tree.Owner.Leave(mark);
        }
    }

    private static ValueStream? Find(OpenTree tree, long generation, ReadOnlySpan<byte> key)
    {
        var record = TreeReader.Find(tree.SettledState(), tree.Owner.Pages, key);
        if (record == null)
            return null;
        var kept = tree.Owner.Write != null ? key.ToArray() : null;
        if (LeafPage.Kind(record) == ValueKind.LargeExtent)
        {
            var reference = *(LargeExtentReference*)LeafPage.InlineBytes(record);
            return new ValueStream(tree, generation, kept, null, reference.Length - (PlantedFault.EndStreamEarly ? 1 : 0), reference);
        }

        if (LeafPage.Packed(record) != null)
            return new ValueStream(tree, generation, kept, Unpack(tree, record));
        var value = LeafValue.Read(tree.Owner.Pages, record, tree.StateAsIs.TreeId);
        fixed (byte* bytes = value)
            return new ValueStream(tree, generation, kept, bytes, value.Length, default);
    }

    private static byte[] Unpack(OpenTree tree, byte* record)
    {
        var value = GC.AllocateUninitializedArray<byte>((int)LeafValue.Length(record), pinned: true);
        PackedReader.Unpack(tree.Owner.Pages, record, tree.StateAsIs.TreeId, value);
        return value;
    }

    public override int Read(Span<byte> buffer)
    {
        // The pages are gone when the transaction has ended.
        ThrowIfEnded();
        var count = (int)Math.Min(buffer.Length, Math.Max(0, _length - _position));
        if (count == 0)
            return 0;
        var owner = _tree.Owner;
        var mark = owner.Enter();
        try
        {
            _tree.ThrowIfClosed(_generation);
            if (_key != null && _tree.SettledState().ChangeCount != _changes && !PlantedFault.ReadChangedValues)
                FindAgain();
            var source = _bytes != null
                ? new ReadOnlySpan<byte>(_bytes + _position, count)
                : owner.Pages.ReadLarge(_large, _position, count);
            source.CopyTo(buffer);
            GC.KeepAlive(_unpacked);
            _position += count;
            return count;
        }
        finally
        {
            owner.Leave(mark);
        }
    }

    private void FindAgain()
    {
        var hasEnded = _bytes != null || _tree.Owner.Write!.RollbackCount != _rollbacks;
        var record = hasEnded ? null : TreeReader.Find(_tree.SettledState(), _tree.Owner.Pages, _key);
        if (record == null || LeafPage.Kind(record) != ValueKind.LargeExtent || !IsSame(*(LargeExtentReference*)LeafPage.InlineBytes(record)))
        {
            throw new InvalidOperationException(
                $"The value of key {KeyText.Of(_key)} in tree '{Catalog.Decode(_tree.Name)}' may have been changed, deleted or rolled back since this stream " +
                "was opened. In a write transaction, read a value before changing the tree, or open the stream again.");
        }

        _changes = _tree.SettledState().ChangeCount;
    }

    private bool IsSame(in LargeExtentReference other) =>
        other.FirstPage == _large.FirstPage && other.Length == _large.Length && other.Checksums == _large.Checksums;

    public override int Read(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        return Read(buffer.AsSpan(offset, count));
    }

    // The bytes are in memory, or a page fault away: there is nothing to wait for.
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (cancellationToken.IsCancellationRequested)
            return ValueTask.FromCanceled<int>(cancellationToken);
        try
        {
            return new ValueTask<int>(Read(buffer.Span));
        }
        catch (Exception e)
        {
            return ValueTask.FromException<int>(e);
        }
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    // The base class would say in its own words that the stream has ended.
    public override void CopyTo(Stream destination, int bufferSize)
    {
        ValidateCopyToArguments(destination, bufferSize);
        ThrowIfEnded();
        base.CopyTo(destination, bufferSize);
    }

    public override Task CopyToAsync(Stream destination, int bufferSize, CancellationToken cancellationToken)
    {
        ValidateCopyToArguments(destination, bufferSize);
        ThrowIfEnded();
        return base.CopyToAsync(destination, bufferSize, cancellationToken);
    }

    public override long Seek(long offset, SeekOrigin origin)
    {
        ThrowIfEnded();
        var position = unchecked(offset + origin switch
        {
            SeekOrigin.Begin => 0,
            SeekOrigin.Current => _position,
            SeekOrigin.End => _length,
            _ => throw new ArgumentOutOfRangeException(nameof(origin), origin, "A position counts from the start, the current position or the end."),
        });
        if (position < 0)
        {
            throw new ArgumentOutOfRangeException(
                nameof(offset), offset, $"The stream has no position {offset} bytes from {origin}: it has {_length} bytes, and is at {_position}.");
        }

        _position = position;
        return position;
    }

    public override void Flush()
    {
    }

    public override void SetLength(long value) => throw new NotSupportedException("The stream of a value is read-only.");

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("The stream of a value is read-only.");

    protected override void Dispose(bool disposing)
    {
        _isClosed = true;
        base.Dispose(disposing);
    }

    private void ThrowIfEnded()
    {
        if (_isClosed)
            EndedErrors.ThrowStream();
        _tree.ThrowIfClosed(_generation);
    }
}
