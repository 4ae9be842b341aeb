using Voron.Format;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>Reads the value of a key as a stream. Large values are verified as far as they are read.</summary>
/// <remarks>
/// In a write transaction, the value may be changed or freed while the stream is open. The stream therefore remembers the change count that
/// its tree had when the stream was opened. After a change it looks up its key again: a large value, which is never changed in place, may
/// still be where it was; of any other value the stream has only an address, so it ends. It also ends after a rollback to a savepoint,
/// because the pages of a value that was undone may hold another value by then.
/// </remarks>
internal sealed unsafe class ValueStream : Stream
{
    private readonly Tree _tree;
    private readonly LargeExtentReference _large;
    private readonly byte* _bytes;
    private readonly long _length;
    private readonly byte[]? _key;
    private readonly long _rollbacks;
    private long _changes;
    private long _position;

    // The key is needed, and passed, only in a write transaction.
    private ValueStream(Tree tree, byte[]? key, byte* bytes, long length, in LargeExtentReference large)
    {
        _tree = tree;
        _key = key;
        _changes = tree.Opened.State.ChangeCount;
        _rollbacks = tree.Opened.Owner is WriteTransactionBody body ? body.RollbackCount : 0;
        _bytes = bytes;
        _length = length;
        _large = large;
    }

    public override bool CanRead => true;

    public override bool CanSeek => true;

    public override bool CanWrite => false;

    public override long Length => _length;

    public override long Position
    {
        get => _position;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    public static ValueStream? TryOpen(Tree tree, ReadOnlySpan<byte> key)
    {
        var opened = tree.Opened;
        var mark = opened.Owner.Enter();
        try
        {
            return TryOpen(tree, opened, key);
        }
        finally
        {
            opened.Owner.Leave(mark);
        }
    }

    private static ValueStream? TryOpen(Tree tree, OpenTree opened, ReadOnlySpan<byte> key)
    {
        // Checked again: the transaction may have ended before it was entered.
        _ = tree.Opened;
        var record = TreeReader.Find(opened.State, opened.Owner.Pages, key);
        if (record == null)
            return null;
        var kept = opened.Owner is WriteTransactionBody ? key.ToArray() : null;
        if (LeafPage.Kind(record) == ValueKind.LargeExtent)
        {
            var reference = *(LargeExtentReference*)LeafPage.InlineBytes(record);
            return new ValueStream(tree, kept, null, reference.Length - (PlantedFault.EndStreamEarly ? 1 : 0), reference);
        }

        var value = TreeReader.Value(opened.Owner.Pages, record);
        fixed (byte* bytes = value)
            return new ValueStream(tree, kept, bytes, value.Length, default);
    }

    public override int Read(Span<byte> buffer)
    {
        // Throws if the transaction has ended, since its pages are gone then.
        var opened = _tree.Opened;
        var count = (int)Math.Min(buffer.Length, Math.Max(0, _length - _position));
        if (count == 0)
            return 0;
        var mark = opened.Owner.Enter();
        try
        {
            _ = _tree.Opened;
            if (_key != null && opened.State.ChangeCount != _changes)
                FindAgain(opened);
            var source = _bytes != null
                ? new ReadOnlySpan<byte>(_bytes + _position, count)
                : opened.Owner.Pages.ReadLarge(_large, _position, count);
            source.CopyTo(buffer);
            _position += count;
            return count;
        }
        finally
        {
            opened.Owner.Leave(mark);
        }
    }

    private void FindAgain(OpenTree opened)
    {
        if (PlantedFault.ReadChangedValues)
            return;
        var hasEnded = _bytes != null || ((WriteTransactionBody)opened.Owner).RollbackCount != _rollbacks;
        var record = hasEnded ? null : TreeReader.Find(opened.State, opened.Owner.Pages, _key);
        if (record == null || LeafPage.Kind(record) != ValueKind.LargeExtent || !IsSame(*(LargeExtentReference*)LeafPage.InlineBytes(record)))
        {
            throw new InvalidOperationException(
                $"The value of key {KeyText.Of(_key)} in tree '{_tree.Name}' may have been changed, deleted or taken back since this stream " +
                "was opened. In a write transaction, read a value before the tree is changed, or open the stream again.");
        }

        _changes = opened.State.ChangeCount;
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

    public override long Seek(long offset, SeekOrigin origin)
    {
        Position = origin switch
        {
            SeekOrigin.Begin => offset,
            SeekOrigin.Current => _position + offset,
            SeekOrigin.End => _length + offset,
            _ => throw new ArgumentOutOfRangeException(nameof(origin)),
        };
        return _position;
    }

    public override void Flush()
    {
    }

    public override void SetLength(long value) => throw new NotSupportedException("The stream of a value is for reading.");

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("The stream of a value is for reading.");
}
