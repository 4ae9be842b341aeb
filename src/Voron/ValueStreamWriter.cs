using System.Buffers;
using System.IO.Pipelines;
using System.Numerics;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Transactions;
using Voron.Trees;

namespace Voron;

/// <summary>Reads a value from a pipe. Stores a small one like any other put, and writes a large one to the data file as it arrives.</summary>
/// <remarks>
/// The extent grows while the value does: in place as long as it ends at the end of the file, otherwise by moving to an extent of twice the
/// size. The tree is touched only when the whole value has arrived, so a pipe that fails leaves nothing but free pages. Between two reads of
/// the pipe the put is pending: <see cref="PendingPuts"/> gives the rules for its transaction meanwhile.
/// </remarks>
internal sealed class ValueStreamWriter : IPendingPut
{
    /// <summary>The maximum length of a value in bytes.</summary>
    public const long MaxValueBytes = int.MaxValue;

    private const int SmallestBuffer = 4 << 10;

    private readonly WriteScope _write;
    private readonly OpenTree _tree;
    private readonly long _generation;
    private readonly long _maxBytes;
    private readonly List<ulong> _checksums = [];
    private readonly int _pageShift;
    private ReadOnlyMemory<byte> _key;
    private PipeReader? _pipe;
    private byte[] _chunk = [];
    private int _filled;
    private long _firstPage;
    private long _pages;
    private long _written;
    private Exception? _undone;

    /// <param name="tree">The tree that the value is put into, open for writing.</param>
    /// <param name="generation">The generation of the handle through which the value is put.</param>
    /// <param name="maxBytes">The maximum length of the value; smaller in tests.</param>
    public ValueStreamWriter(OpenTree tree, long generation, long maxBytes = MaxValueBytes)
    {
        _maxBytes = maxBytes;
        _write = tree.Owner.Write!;
        _tree = tree;
        _generation = generation;
        _pageShift = BitOperations.Log2((uint)_write.Pages.PageSize);
    }

    /// <inheritdoc/>
    public uint TreeId => _tree.StateAsIs.TreeId;

    /// <inheritdoc/>
    public string Description => $"of key {KeyText.Of(_key.Span)} in tree '{Catalog.Decode(_tree.Name)}'";

    /// <summary>Reads the pipe to its end, completes it, and sets the value.</summary>
    public async ValueTask<long> PutAsync(ReadOnlyMemory<byte> key, PipeReader pipe, CancellationToken cancellationToken)
    {
        _key = key;
        _pipe = pipe;
        _write.Puts.Add(this);
        Exception? failure = null;
        try
        {
            var length = await ReadAllAsync(pipe, cancellationToken).ConfigureAwait(false);
            Store(length);
            return length;
        }
        catch (Exception e)
        {
            failure = e;
            Discard();
            throw;
        }
        finally
        {
            _write.Puts.Remove(this);
            ArrayPool<byte>.Shared.Return(_chunk);
            _chunk = [];
            await pipe.CompleteAsync(failure).ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    public void Undo(Exception reason)
    {
        _write.Puts.Exclusion.AssertHeld();
        _undone = reason;
        _pages = 0;

        // Wakes a put whose stream delivers nothing more. Done on another thread, because the continuation may be any code.
        ThreadPool.UnsafeQueueUserWorkItem(static pipe => Cancel(pipe), _pipe!, preferLocal: false);
    }

    /// <exception cref="ArgumentException">The length is greater than the maximum.</exception>
    public static void CheckLength(long bytes, long maxBytes)
    {
        if (bytes > maxBytes)
            throw new ArgumentException($"A value can have at most {maxBytes} bytes, but this stream has {bytes} or more.");
    }

    private static void Cancel(PipeReader pipe)
    {
        try
        {
            pipe.CancelPendingRead();
        }
        catch (Exception)
        {
            // The put has completed its pipe in the meantime.
        }
    }

    private async ValueTask<long> ReadAllAsync(PipeReader pipe, CancellationToken cancellationToken)
    {
        long total = 0;
        while (true)
        {
            var result = await ReadAsync(pipe, cancellationToken).ConfigureAwait(false);
            _write.Puts.ThrowIfUndone(this);
            if (result.IsCanceled)
                throw new OperationCanceledException("A read from the pipe that supplies the value was cancelled.");
            total += result.Buffer.Length;
            CheckLength(total, _maxBytes);
            Take(result.Buffer, total, result.IsCompleted);
            pipe.AdvanceTo(result.Buffer.End);
            if (result.IsCompleted)
                return total;
        }
    }

    // A put that its transaction has undone throws the exception for that, whether or not its stream fails as well.
    private async ValueTask<ReadResult> ReadAsync(PipeReader pipe, CancellationToken cancellationToken)
    {
        try
        {
            return await pipe.ReadAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception)
        {
            _write.Puts.ThrowIfUndone(this);
            throw;
        }
    }

    /// <inheritdoc/>
    public void ThrowIfUndone()
    {
        _write.Puts.Exclusion.AssertHeld();
        if (_undone != null)
            throw _undone;
    }

    private void Take(in ReadOnlySequence<byte> bytes, long total, bool isLast)
    {
        using (_write.Puts.Exclusion.Enter())
        {
            ThrowIfUndone();
            foreach (var segment in bytes)
                Take(segment.Span, total);
            if (isLast && _pages > 0 && _filled > 0)
                WriteChunk(_chunk.AsSpan(0, _filled));
        }
    }

    // Gathers bytes until they are known to be a large value, and then until they fill a chunk.
    private void Take(ReadOnlySpan<byte> bytes, long total)
    {
        while (!bytes.IsEmpty)
        {
            var limit = _pages > 0 ? LargeValues.ChunkBytes : _write.LargeValues.ThresholdBytes;
            var count = Math.Min(bytes.Length, limit - _filled);
            EnsureBuffer(_filled + count, (int)Math.Min(limit, total));
            bytes[..count].CopyTo(_chunk.AsSpan(_filled));
            bytes = bytes[count..];
            _filled += count;
            if (_filled < limit)
                continue;

            var at = 0;
            for (; _filled - at >= LargeValues.ChunkBytes; at += LargeValues.ChunkBytes)
                WriteChunk(_chunk.AsSpan(at, LargeValues.ChunkBytes));
            if (_pages == 0)
                PrepareRoom(LargeValues.ChunkBytes);
            _chunk.AsSpan(at, _filled - at).CopyTo(_chunk);
            _filled -= at;
        }
    }

    // Grows with the bytes that have arrived, not with those that may follow: the threshold may be far above most values.
    private void EnsureBuffer(int needed, int known)
    {
        if (needed <= _chunk.Length)
            return;
        var bytes = (int)Math.Min(Math.Max(Math.Max(needed, known), Math.Max(SmallestBuffer, 2L * _chunk.Length)), Array.MaxLength);
        EngineMemory.Ask((nuint)bytes);
        var larger = ArrayPool<byte>.Shared.Rent(bytes);
        _chunk.AsSpan(0, _filled).CopyTo(larger);
        ArrayPool<byte>.Shared.Return(_chunk);
        _chunk = larger;
    }

    private void WriteChunk(ReadOnlySpan<byte> bytes)
    {
        _write.Puts.Exclusion.AssertHeld();
        PrepareRoom(_written + bytes.Length);
        try
        {
            _checksums.Add(_write.LargeValues.WriteChunk(_firstPage, _checksums.Count, bytes));
        }
        catch (Exception e) when (_write.Break(e))
        {
            throw;
        }

        _written += bytes.Length;
    }

    // The handle may have ended while the stream was read, and waiting puts must be applied first.
    private void PrepareRoom(long bytes)
    {
        _tree.ThrowIfClosed(_generation);
        _ = _tree.SettledState();
        _write.ThrowIfBroken();
        try
        {
            EnsureRoom(bytes);
        }
        catch (Exception e) when (_write.Break(e))
        {
            throw;
        }
    }

    private void EnsureRoom(long bytes)
    {
        var needed = (bytes + (1L << _pageShift) - 1) >> _pageShift;
        if (needed <= _pages)
            return;

        var writePages = _write.Pages;
        var pages = Math.Max(needed, Math.Max(2 * _pages, (1 << 20) >> _pageShift));
        pages = Math.Max(needed, Math.Min(pages, (int.MaxValue + (1L << _pageShift)) >> _pageShift));
        if (_pages > 0 && _firstPage + _pages == writePages.State.PageCount && TryExtend(pages))
            return;

        long moved;
        try
        {
            moved = writePages.AllocateUntouchedExtent(pages);
        }
        catch (StorageFullException) when (pages > needed)
        {
            pages = needed;
            moved = writePages.AllocateUntouchedExtent(pages);
        }

        Move(moved);
        if (_pages > 0)
            writePages.FreeExtent(new PageNumber(_firstPage), checked((int)_pages));
        _firstPage = moved;
        _pages = pages;
    }

    private bool TryExtend(long pages)
    {
        try
        {
            _write.Pages.Extend(pages - _pages);
            _pages = pages;
            return true;
        }
        catch (StorageFullException)
        {
            // There may be room among the free pages.
            return false;
        }
    }

    private void Move(long target)
    {
        _checksums.Clear();
        _write.LargeValues.Finish();
        EngineMemory.Ask(LargeValues.ChunkBytes);
        var buffer = ArrayPool<byte>.Shared.Rent(LargeValues.ChunkBytes);
        for (var offset = 0L; offset < _written; offset += LargeValues.ChunkBytes)
        {
            var bytes = buffer.AsSpan(0, (int)Math.Min(LargeValues.ChunkBytes, _written - offset));
            _write.LargeValues.ReadChunk(_firstPage, _checksums.Count, bytes);
            _checksums.Add(_write.LargeValues.WriteChunk(target, _checksums.Count, bytes));
        }

        ArrayPool<byte>.Shared.Return(buffer);
    }

    private void Store(long length)
    {
        using (_write.Puts.Exclusion.Enter())
        {
            ThrowIfUndone();
            if (_pages == 0)
            {
                _tree.ThrowIfClosed(_generation);
                TreeEditor.Put(_tree, _key.Span, _chunk.AsSpan(0, (int)length));
                return;
            }

            _tree.ThrowIfClosed(_generation);
            _ = _tree.SettledState();
            var used = (length + (1L << _pageShift) - 1) >> _pageShift;
            try
            {
                if (used < _pages)
                    _write.Pages.FreeExtent(new PageNumber(_firstPage + used), checked((int)(_pages - used)));
                _pages = 0;
                _write.LargeValues.Attach(_tree.SettledState(), _key.Span, _firstPage, used, length, CollectionsMarshal.AsSpan(_checksums));
            }
            catch (Exception e) when (_write.Break(e))
            {
                throw;
            }
        }
    }

    private void Discard()
    {
        using (_write.Puts.Exclusion.Enter())
        {
            // A transaction that can only be rolled back returns the pages then; one that was rolled back has already returned them.
            if (_undone != null || _pages == 0 || _write.IsBroken)
                return;
            try
            {
                _tree.ThrowIfClosed(_generation);
                _ = _tree.SettledState();
                _write.Pages.FreeExtent(new PageNumber(_firstPage), checked((int)_pages));
            }
            catch (Exception e) when (_write.Break(e))
            {
                throw;
            }
        }
    }
}
