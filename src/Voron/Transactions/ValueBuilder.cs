using System.Buffers;
using System.Runtime.InteropServices;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Recording;

namespace Voron.Transactions;

/// <summary>
/// Gathers the bytes of a value of unknown length: stores a small one like any other put, and writes a large one to the data file as it arrives.
/// </summary>
/// <remarks>
/// If the source knows the length, the extent is as long as the value. Otherwise it grows with the value: in place while it ends at the end of the
/// file, otherwise by moving to an extent of twice the size. The tree is changed only when the whole value has arrived, so an abandoned value
/// leaves only free pages. All methods that work in the transaction are called with the lock of <see cref="UnfinishedPuts"/> held.
/// </remarks>
internal sealed class ValueBuilder
{
    private const int SmallestBuffer = 4 << 10;

    private const int FirstExtentBytes = 1 << 20;

    /// <summary>The maximum number of checksums whose memory is kept for the next value.</summary>
    private const int MaxKeptChecksums = 1024;

    private readonly List<ulong> _checksums = [];
    private WriteContext _write = null!;
    private OpenTree? _tree;
    private ExtentGrowth _growth;
    private long _generation;
    private int _gatheredBytes;
    private long _knownBytes;
    private byte[] _chunk = [];
    private int _filled;
    private long _firstPage;
    private long _pages;
    private long _written;

    /// <summary>The number of bytes so far.</summary>
    public long Length => _written + _filled;

    /// <summary>True when enough bytes have been gathered for <see cref="WriteChunks"/>, which must then be called.</summary>
    public bool IsFull => _filled >= Limit;

    private int Limit => _pages > 0 ? LargeValues.ChunkBytes : _gatheredBytes;

    /// <summary>Begins a value.</summary>
    /// <param name="tree">The tree that the value is put into.</param>
    /// <param name="generation">The generation of the handle through which it is put.</param>
    /// <param name="gatheredBytes">The number of gathered bytes from which a value is written to the data file before its end.</param>
    /// <param name="knownBytes">The length that its source claims; 0 if unknown. The value may be shorter or longer.</param>
    public void Begin(OpenTree tree, long generation, int gatheredBytes, long knownBytes = 0)
    {
        _write = tree.Owner.Write!;
        _growth = new ExtentGrowth(_write.Pages.PageSize, FirstExtentBytes);
        _tree = tree;
        _generation = generation;
        _gatheredBytes = gatheredBytes;
        _knownBytes = knownBytes;
    }

    /// <summary>Adds bytes.</summary>
    /// <param name="bytes">The bytes.</param>
    /// <param name="known">The known minimum length of the value: the buffer is made no smaller.</param>
    public void Append(ReadOnlySpan<byte> bytes, long known)
    {
        while (!bytes.IsEmpty)
        {
            var limit = Limit;
            var count = Math.Min(bytes.Length, limit - _filled);
            EnsureBuffer(_filled + count, (int)Math.Min(limit, known));
            bytes[..count].CopyTo(_chunk.AsSpan(_filled));
            bytes = bytes[count..];
            _filled += count;
            if (IsFull)
                WriteChunks();
        }
    }

    /// <summary>Returns space for at least that many bytes, to be filled by the caller. Does not touch the transaction.</summary>
    /// <exception cref="InvalidOperationException">No array is that long.</exception>
    public Memory<byte> GetRoom(int bytes)
    {
        if (bytes > Array.MaxLength - _filled)
            throw new InvalidOperationException(
                $"No buffer can hold {bytes} bytes after the {_filled} bytes gathered so far. Request fewer at a time.");
        EnsureBuffer(_filled + bytes, 0);
        return _chunk.AsMemory(_filled);
    }

    /// <summary>Adds bytes that the caller has written into that space; false when it is smaller. Does not touch the transaction.</summary>
    public bool TryAdvance(int bytes)
    {
        if (bytes > _chunk.Length - _filled)
            return false;
        _filled += bytes;
        return true;
    }

    /// <summary>Writes the gathered bytes to the data file, except for those that do not fill a chunk.</summary>
    public void WriteChunks()
    {
        var at = 0;
        for (; _filled - at >= LargeValues.ChunkBytes; at += LargeValues.ChunkBytes)
            WriteChunk(_chunk.AsSpan(at, LargeValues.ChunkBytes));
        if (_pages == 0)
            PrepareRoom(LargeValues.ChunkBytes);
        _chunk.AsSpan(at, _filled - at).CopyTo(_chunk);
        _filled -= at;
    }

    /// <summary>Makes the bytes the value of a key.</summary>
    public void Store(ReadOnlySpan<byte> key)
    {
        var tree = _tree!;
        tree.ThrowIfClosed(_generation);
        if (_pages == 0)
        {
            TreeAccess.Put(tree, key, _chunk.AsSpan(0, _filled));
            return;
        }

        if (_filled > 0)
            WriteChunk(_chunk.AsSpan(0, _filled));
        _filled = 0;
        _ = tree.SettledState();
        _write.ThrowIfBroken();
        var used = _growth.PagesFor(_written);
        var isRecorded = tree.StateAsIs.IsRecorded;
        if (isRecorded)
            _write.Recorder.Prepare(tree, RecordedOperation.Put, key, leavesOut: true);
        try
        {
            if (used < _pages)
                _write.Pages.FreeExtent(new PageNumber(_firstPage + used), checked((int)(_pages - used)));
            _pages = 0;
            var value = new WrittenValue(_firstPage, used, _written, IsDurable: false);
            _write.LargeValues.Attach(tree.SettledState(), key, value, CollectionsMarshal.AsSpan(_checksums));
            if (isRecorded)
                _write.Recorder.Append();
        }
        catch (Exception e) when (_write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Frees the pages that the value has taken.</summary>
    public void Discard()
    {
        // A transaction that can only be rolled back returns the pages then.
        if (_pages == 0 || _write.IsBroken)
            return;
        try
        {
            _tree!.ThrowIfClosed(_generation);
            _ = _tree.SettledState();
            _write.Pages.FreeExtent(new PageNumber(_firstPage), checked((int)_pages));
            _pages = 0;
        }
        catch (Exception e) when (_write.Break(e))
        {
            throw;
        }
    }

    /// <summary>Forgets the pages, because they have been rolled back.</summary>
    public void Forget() => _pages = 0;

    /// <summary>Ends the value, complete or not, and returns its memory.</summary>
    public void End()
    {
        ArrayPool<byte>.Shared.Return(_chunk);
        _chunk = [];
        _tree = null;
        _write = null!;
        _filled = 0;
        _firstPage = _pages = _written = 0;
        _checksums.Clear();
        if (_checksums.Capacity > MaxKeptChecksums)
            _checksums.Capacity = 0;
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
        _write.UnfinishedPuts.Exclusion.AssertHeld();
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

    // The handle may have ended while the bytes were gathered, and waiting puts must be applied first.
    private void PrepareRoom(long bytes)
    {
        _tree!.ThrowIfClosed(_generation);
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
        var needed = _growth.PagesFor(bytes);
        if (needed <= _pages)
            return;

        var writePages = _write.Pages;
        var pages = bytes <= _knownBytes ? _growth.PagesFor(_knownBytes) : _growth.Next(needed, _pages);
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
            // There may be space among the free pages.
            return false;
        }
    }

    private void Move(long target)
    {
        _write.LargeValues.Finish();
        EngineMemory.Ask(LargeValues.ChunkBytes);
        var buffer = ArrayPool<byte>.Shared.Rent(LargeValues.ChunkBytes);
        for (var chunk = 0; chunk < _checksums.Count; chunk++)
        {
            var bytes = buffer.AsSpan(0, (int)Math.Min(LargeValues.ChunkBytes, _written - (long)chunk * LargeValues.ChunkBytes));
            _write.LargeValues.ReadChunk(_firstPage, chunk, bytes, _checksums[chunk]);
            _checksums[chunk] = _write.LargeValues.WriteChunk(target, chunk, bytes);
        }

        ArrayPool<byte>.Shared.Return(buffer);
    }
}
