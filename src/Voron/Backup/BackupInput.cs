using Voron.Format;
using Voron.IO;

namespace Voron.Backup;

/// <summary>Reads a backup forward, and presents as many contiguous bytes as its reader requests.</summary>
/// <remarks>
/// With <see cref="ReadsAhead"/>, the next piece is read while the caller uses the previous ones, bypassing the page cache where the system
/// supports it: all pieces but the last have the same length, which is a multiple of any block size, and so are all offsets.
/// </remarks>
internal sealed class BackupInput : IAsyncDisposable
{
    private const int PieceBytes = 1 << 20;

    // Space for the longest frame, and for a whole piece after any part of it.
    private const int PiecesInBuffer = 3;

    private readonly BackupSource _source;
    private readonly Stream _stream;
    private readonly AlignedBuffer _buffer;
    private readonly int _pieceBytes;
    private readonly CancellationTokenSource _disposing = new();
    private AlignedBuffer? _ahead;
    private Task<int>? _reading;
    private int _start;
    private int _end;
    private bool _hasEnded;
    private bool _isUncached;

    /// <param name="source">The backup.</param>
    /// <param name="stream">Its bytes.</param>
    /// <param name="buffer">A buffer for the ends of a backup, see <see cref="MakeSmallBuffer"/>; null for one large enough for any frame.</param>
    public BackupInput(BackupSource source, Stream stream, AlignedBuffer? buffer = null)
    {
        _source = source;
        _stream = stream;
        _buffer = buffer ?? new AlignedBuffer(PiecesInBuffer * PieceBytes);
        _pieceBytes = _buffer.Length / PiecesInBuffer;
    }

    /// <summary>True to read the next piece of a file before it is requested. The file is then read to its end, without seeking.</summary>
    public bool ReadsAhead { get; init; }

    /// <summary>The offset in the backup of the next byte.</summary>
    public long Offset { get; private set; }

    /// <summary>The number of bytes that can be used from <see cref="Address"/> on.</summary>
    public int Available => _end - _start;

    /// <summary>The address of the next byte, valid until the next read.</summary>
    public unsafe byte* Address => _buffer.Address + _start;

    /// <summary>Returns a buffer for header, note and trailer. It can be reused for one backup after the other.</summary>
    public static AlignedBuffer MakeSmallBuffer() => new(PiecesInBuffer * 2 * BackupFrameLimits.MaxNoteBytes);

    /// <summary>Reads until a number of bytes are available. Returns false if the backup ends before them.</summary>
    /// <exception cref="StorageAccessException">The file cannot be read. A failure of the user's stream passes through.</exception>
    public async ValueTask<bool> TryFillAsync(int bytes, CancellationToken cancellationToken)
    {
        while (Available < bytes && !_hasEnded)
        {
            cancellationToken.ThrowIfCancellationRequested();
            if (_buffer.Length - _end < _pieceBytes)
                MoveToStart();
            var target = _buffer.Memory.Slice(_end, _pieceBytes);
            var count = ReadsAhead
                ? await TakeAheadAsync(target, cancellationToken).ConfigureAwait(false)
                : await ReadAsync(target, cancellationToken).ConfigureAwait(false);
            if (count < 0 || count > target.Length)
                throw new InvalidOperationException($"A read of the backup stream returned {count} bytes, but the buffer holds {target.Length}.");
            _hasEnded = count == 0;
            _end += count;
        }

        return Available >= bytes;
    }

    /// <summary>Skips bytes that are available.</summary>
    public void Skip(int bytes)
    {
        _start += bytes;
        Offset += bytes;
        if (_start == _end)
            _start = _end = 0;
    }

    /// <summary>Seeks to the last block of a file. Returns the length of the file.</summary>
    public long SeekLastBlock()
    {
        var offset = Offset;
        try
        {
            var length = _stream.Length;
            Offset = _stream.Position = Math.Max(0, length - BackupHeader.BlockBytes);
            _start = _end = 0;
            _hasEnded = false;
            return length;
        }
        catch (Exception e) when (_source.IsFailure(e))
        {
            throw Unreadable(e, offset);
        }
    }

    public async ValueTask DisposeAsync()
    {
        // The stream may be the user's, and must not be in use when the call returns.
        await _disposing.CancelAsync().ConfigureAwait(false);
        if (_reading is { } reading)
            await ((Task)reading).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _disposing.Dispose();
        if (_source.IsFile)
            await _stream.DisposeAsync().ConfigureAwait(false);
    }

    private void MoveToStart()
    {
        _buffer.Memory[_start.._end].CopyTo(_buffer.Memory);
        _end -= _start;
        _start = 0;
    }

    private async ValueTask<int> TakeAheadAsync(Memory<byte> target, CancellationToken cancellationToken)
    {
        if (_ahead == null)
        {
            _ahead = new AlignedBuffer(_pieceBytes);
            _isUncached = _stream is FileStream { CanSeek: true } file && UncachedReading.TryBegin(file.SafeFileHandle);
        }

        var reading = _reading ?? ReadAheadAsync(_ahead.Memory, cancellationToken);
        _reading = null;
        int count;
        try
        {
            count = await reading.ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            throw new OperationCanceledException(cancellationToken);
        }

        if (count <= 0 || count > _pieceBytes)
            return count;
        _ahead.Memory[..count].CopyTo(target);
        _reading = Task.Run(() => ReadAheadAsync(_ahead.Memory, cancellationToken), CancellationToken.None);
        return count;
    }

    private async Task<int> ReadAheadAsync(Memory<byte> target, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, _disposing.Token);
        return await ReadAsync(target, stop.Token).ConfigureAwait(false);
    }

    private async ValueTask<int> ReadAsync(Memory<byte> target, CancellationToken cancellationToken)
    {
        var offset = Offset + Available;
        try
        {
            return _isUncached
                ? await ReadUncachedAsync((FileStream)_stream, target, cancellationToken).ConfigureAwait(false)
                : await _stream.ReadAsync(target, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (_source.IsFailure(e))
        {
            throw Unreadable(e, offset);
        }
    }

    // A short read ends at an offset, usually the end of the file, from which only a cached read can continue.
    private async ValueTask<int> ReadUncachedAsync(FileStream file, Memory<byte> target, CancellationToken cancellationToken)
    {
        var position = file.Position;
        var count = 0;
        try
        {
            count = await file.ReadAsync(target, cancellationToken).ConfigureAwait(false);
        }
        catch (IOException e) when (UncachedReading.IsRefusal(e))
        {
            // Read again below.
        }

        if (count == target.Length)
            return count;
        _isUncached = false;
        UncachedReading.End(file.SafeFileHandle);
        if (count > 0)
            return count;
        file.Position = position;
        return await file.ReadAsync(target, cancellationToken).ConfigureAwait(false);
    }

    private StorageAccessException Unreadable(Exception e, long offset) =>
        new($"The backup '{_source.Name}' cannot be read at offset {offset}: {e.Message}", e);
}
