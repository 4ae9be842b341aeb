using Voron.IO;

namespace Voron.Backup;

/// <summary>A file of a disk as a stream to read from. The stream owns the file.</summary>
internal sealed class DiskFileStream(DiskFile file) : Stream
{
    private long _position;

    public override bool CanRead => true;

    public override bool CanSeek => true;

    public override bool CanWrite => false;

    public override long Length => file.Length;

    public override long Position
    {
        get => _position;
        set
        {
            ArgumentOutOfRangeException.ThrowIfNegative(value);
            _position = value;
        }
    }

    public override int Read(Span<byte> buffer)
    {
        var count = (int)Math.Clamp(file.Length - _position, 0, buffer.Length);
        if (count > 0)
            file.Read(_position, buffer[..count]);
        _position += count;
        return count;
    }

    public override int Read(byte[] buffer, int offset, int count)
    {
        ValidateBufferArguments(buffer, offset, count);
        return Read(buffer.AsSpan(offset, count));
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        cancellationToken.IsCancellationRequested
            ? ValueTask.FromCanceled<int>(cancellationToken)
            : ValueTask.FromResult(Read(buffer.Span));

    public override long Seek(long offset, SeekOrigin origin) => Position = offset + origin switch
    {
        SeekOrigin.Begin => 0,
        SeekOrigin.Current => _position,
        _ => file.Length,
    };

    public override void Flush()
    {
    }

    public override void SetLength(long value) => throw new NotSupportedException("The stream is for reading only.");

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException("The stream is for reading only.");

    protected override void Dispose(bool disposing)
    {
        if (disposing)
            file.Dispose();
        base.Dispose(disposing);
    }
}
