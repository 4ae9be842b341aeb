using System.Buffers;
using System.IO.Pipelines;
using System.Numerics;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>Takes a value from a pipe: what stays small goes the ordinary way, what does not is written as it comes.</summary>
/// <remarks>
/// The run grows while the value does: in place as long as it ends at the end of the file, else by moving to a run of twice
/// the size. The tree is touched only when all is there, so a pipe that fails leaves nothing but free pages.
/// </remarks>
internal sealed class ValueStreamWriter
{
    /// <summary>Bytes of the longest value.</summary>
    public const long MaxValueBytes = int.MaxValue;

    private readonly WriteCore _core;
    private readonly OpenTree _tree;
    private readonly long _maxBytes;
    private readonly List<ulong> _checksums = [];
    private readonly int _pageShift;
    private long _firstPage;
    private long _pages;
    private long _written;

    public ValueStreamWriter(WriteCore core, OpenTree tree, long maxBytes = MaxValueBytes)
    {
        _maxBytes = maxBytes;
        _core = core;
        _tree = tree;
        _pageShift = BitOperations.Log2((uint)core.Session.PageSize);
    }

    /// <summary>Reads the pipe to its end, completes it, and sets the value.</summary>
    public async ValueTask<long> PutAsync(WriteTree handle, ReadOnlyMemory<byte> key, PipeReader pipe, CancellationToken cancellationToken)
    {
        EngineMemory.Ask(LargeValues.ChunkBytes);
        var chunk = ArrayPool<byte>.Shared.Rent(Math.Max(LargeValues.ChunkBytes, _core.LargeValues.ThresholdBytes));
        Exception? failure = null;
        try
        {
            var length = await ReadAllAsync(handle, pipe, chunk, cancellationToken).ConfigureAwait(false);
            Store(handle, key.Span, chunk, length);
            return length;
        }
        catch (Exception e)
        {
            failure = e;
            Discard(handle);
            throw;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(chunk);
            await pipe.CompleteAsync(failure).ConfigureAwait(false);
        }
    }

    /// <exception cref="ArgumentException">A value cannot have that many bytes.</exception>
    public static void CheckLength(long bytes, long maxBytes)
    {
        if (bytes > maxBytes)
            throw new ArgumentException($"A value has at most {maxBytes} bytes; this stream has {bytes} or more.");
    }

    private async ValueTask<long> ReadAllAsync(WriteTree handle, PipeReader pipe, byte[] chunk, CancellationToken cancellationToken)
    {
        long total = 0;
        var filled = 0;
        while (true)
        {
            var result = await pipe.ReadAsync(cancellationToken).ConfigureAwait(false);
            if (result.IsCanceled)
                throw new OperationCanceledException("The pipe that the value was read from was cancelled.");
            total += result.Buffer.Length;
            CheckLength(total, _maxBytes);
            try
            {
                foreach (var segment in result.Buffer)
                    filled = Take(handle, segment.Span, chunk, filled);
            }
            catch (Exception e) when (e is not ObjectDisposedException && _core.Break(e))
            {
                throw;
            }

            pipe.AdvanceTo(result.Buffer.End);
            if (result.IsCompleted)
                break;
        }

        if (_pages > 0 && filled > 0)
            WriteChunk(handle, chunk.AsSpan(0, filled));
        return total;
    }

    // Bytes are gathered until they are known to be a large value, then until they fill a chunk.
    private int Take(WriteTree handle, ReadOnlySpan<byte> bytes, byte[] chunk, int filled)
    {
        while (!bytes.IsEmpty)
        {
            var limit = _pages > 0 ? LargeValues.ChunkBytes : _core.LargeValues.ThresholdBytes;
            var count = Math.Min(bytes.Length, limit - filled);
            bytes[..count].CopyTo(chunk.AsSpan(filled));
            bytes = bytes[count..];
            filled += count;
            if (filled < limit)
                continue;

            var at = 0;
            for (; filled - at >= LargeValues.ChunkBytes; at += LargeValues.ChunkBytes)
                WriteChunk(handle, chunk.AsSpan(at, LargeValues.ChunkBytes));
            if (_pages == 0)
                EnsureRoom(handle, LargeValues.ChunkBytes);
            chunk.AsSpan(at, filled - at).CopyTo(chunk);
            filled -= at;
        }

        return filled;
    }

    private void WriteChunk(WriteTree handle, ReadOnlySpan<byte> bytes)
    {
        EnsureRoom(handle, _written + bytes.Length);
        _checksums.Add(_core.LargeValues.WriteChunk(_firstPage, _checksums.Count, bytes));
        _written += bytes.Length;
    }

    private void EnsureRoom(WriteTree handle, long bytes)
    {
        _ = handle.Count;
        try
        {
            EnsureRoom(bytes);
        }
        catch (Exception e) when (_core.Break(e))
        {
            throw;
        }
    }

    private void EnsureRoom(long bytes)
    {
        var needed = (bytes + (1L << _pageShift) - 1) >> _pageShift;
        if (needed <= _pages)
            return;

        var session = _core.Session;
        var pages = Math.Max(needed, Math.Max(2 * _pages, (1 << 20) >> _pageShift));
        pages = Math.Max(needed, Math.Min(pages, (int.MaxValue + (1L << _pageShift)) >> _pageShift));
        if (_pages > 0 && _firstPage + _pages == session.State.PageCount)
        {
            session.Space.Map.Extend(pages - _pages);
            _pages = pages;
            return;
        }

        var moved = session.AllocateUntouchedRun(pages);
        Move(moved);
        if (_pages > 0)
            session.FreeRun(new PageNumber(_firstPage), checked((int)_pages));
        _firstPage = moved;
        _pages = pages;
    }

    private void Move(long target)
    {
        _checksums.Clear();
        _core.LargeValues.Finish();
        EngineMemory.Ask(LargeValues.ChunkBytes);
        var buffer = ArrayPool<byte>.Shared.Rent(LargeValues.ChunkBytes);
        for (var offset = 0L; offset < _written; offset += LargeValues.ChunkBytes)
        {
            var bytes = buffer.AsSpan(0, (int)Math.Min(LargeValues.ChunkBytes, _written - offset));
            _core.LargeValues.ReadChunk(_firstPage, _checksums.Count, bytes);
            _checksums.Add(_core.LargeValues.WriteChunk(target, _checksums.Count, bytes));
        }

        ArrayPool<byte>.Shared.Return(buffer);
    }

    private void Store(WriteTree handle, ReadOnlySpan<byte> key, byte[] chunk, long length)
    {
        if (_pages == 0)
        {
            handle.Put(key, chunk.AsSpan(0, (int)length));
            return;
        }

        _ = handle.Count;
        var used = (length + (1L << _pageShift) - 1) >> _pageShift;
        try
        {
            if (used < _pages)
                _core.Session.FreeRun(new PageNumber(_firstPage + used), checked((int)(_pages - used)));
            _pages = 0;
            _core.LargeValues.Attach(_tree.State, key, _firstPage, used, length, CollectionsMarshal.AsSpan(_checksums));
        }
        catch (Exception e) when (_core.Break(e))
        {
            throw;
        }
    }

    private void Discard(WriteTree handle)
    {
        try
        {
            // A transaction that can only be rolled back gives the pages back when it is.
            _ = handle.Count;
            if (_pages == 0 || _core.IsBroken)
                return;
            _core.Session.FreeRun(new PageNumber(_firstPage), checked((int)_pages));
        }
        catch (ObjectDisposedException)
        {
            // The transaction was rolled back meanwhile, and the pages with it.
        }
        catch (Exception e) when (_core.Break(e))
        {
            throw;
        }
    }
}
