namespace Voron.Tests.Backup;

/// <summary>A stream that cannot seek, and returns few bytes at a time, of varying number.</summary>
internal sealed class TrickleStream(byte[] content) : Stream
{
    private int _position;
    private int _calls;

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    /// <summary>True once the stream was closed.</summary>
    public bool IsClosed { get; private set; }

    /// <summary>The number of bytes after which reading fails.</summary>
    public int FailsAt { get; init; } = int.MaxValue;

    public override int Read(Span<byte> buffer)
    {
        if (_position >= FailsAt)
            throw new IOException("the line is dead");
        var read = Math.Min(Math.Min(buffer.Length, content.Length - _position), 1 + _calls++ * 37 % 5000);
        content.AsSpan(_position, read).CopyTo(buffer);
        _position += read;
        return read;
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        Task.FromResult(Read(buffer.AsSpan(offset, count)));

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) =>
        ValueTask.FromResult(Read(buffer.Span));

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        IsClosed = true;
        base.Dispose(disposing);
    }
}
