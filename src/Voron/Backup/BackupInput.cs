using Voron.Format;

namespace Voron.Backup;

/// <summary>Reads a backup forward, and presents as many bytes in a row as its reader asks for.</summary>
internal sealed class BackupInput : IAsyncDisposable
{
    /// <summary>In bytes: the longest frame, and the room to read much at once behind the rest of the frame before it.</summary>
    private const int BufferBytes = 2 << 20;

    private const int MaxReadBytes = 1 << 20;

    private readonly BackupSource _source;
    private readonly Stream _stream;
    private readonly AlignedBuffer _buffer = new(BufferBytes);
    private int _start;
    private int _end;
    private bool _hasEnded;

    public BackupInput(BackupSource source, Stream stream)
    {
        _source = source;
        _stream = stream;
    }

    /// <summary>The offset in the backup of the next byte.</summary>
    public long Offset { get; private set; }

    /// <summary>The number of bytes that can be used from <see cref="Address"/> on.</summary>
    public int Available => _end - _start;

    /// <summary>The address of the next byte, valid until the next read.</summary>
    public unsafe byte* Address => _buffer.Address + _start;

    /// <summary>Reads until a number of bytes are available. Returns false if the backup ends before them.</summary>
    /// <exception cref="StorageAccessException">The file cannot be read. A failure of the user's stream passes through.</exception>
    public async ValueTask<bool> TryFillAsync(int bytes, CancellationToken cancellationToken)
    {
        if (_start + bytes > BufferBytes)
        {
            _buffer.Memory[_start.._end].CopyTo(_buffer.Memory);
            _end -= _start;
            _start = 0;
        }

        while (Available < bytes && !_hasEnded)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var target = _buffer.Memory[_end..Math.Min(BufferBytes, _end + MaxReadBytes)];
            var count = await ReadAsync(target, cancellationToken).ConfigureAwait(false);
            if (count < 0 || count > target.Length)
                throw new InvalidOperationException($"The stream of the backup returned {count} bytes, but has room for {target.Length}.");
            _hasEnded = count == 0;
            _end += count;
        }

        return Available >= bytes;
    }

    /// <summary>Goes on behind bytes that are available.</summary>
    public void Skip(int bytes)
    {
        _start += bytes;
        Offset += bytes;
        if (_start == _end)
            _start = _end = 0;
    }

    /// <summary>Goes to the last block of a file. Returns the length of the file.</summary>
    public long SeekLastBlock()
    {
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
            throw Unreadable(e);
        }
    }

    public ValueTask DisposeAsync() => _source.IsFile ? _stream.DisposeAsync() : ValueTask.CompletedTask;

    private async ValueTask<int> ReadAsync(Memory<byte> target, CancellationToken cancellationToken)
    {
        try
        {
            return await _stream.ReadAsync(target, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (_source.IsFailure(e))
        {
            throw Unreadable(e);
        }
    }

    private StorageAccessException Unreadable(Exception e) =>
        new($"The backup '{_source.Name}' cannot be read at offset {Offset + Available}: {e.Message}", e);
}
