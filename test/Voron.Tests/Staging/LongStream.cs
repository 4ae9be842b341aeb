namespace Voron.Tests.Staging;

/// <summary>A stream of zeros of any length.</summary>
internal sealed class LongStream(long length) : Stream
{
    public bool IsSeekable { get; init; } = true;

    public override bool CanRead => true;

    public override bool CanSeek => IsSeekable;

    public override bool CanWrite => false;

    public override long Length => IsSeekable ? length : throw new NotSupportedException();

    public override long Position { get; set; }

    public override int Read(byte[] buffer, int offset, int count)
    {
        var read = (int)Math.Min(count, length - Position);
        Array.Clear(buffer, offset, read);
        Position += read;
        return read;
    }

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}

/// <summary>A stream after it was closed.</summary>
internal static class ClosedStream
{
    public static Stream Closed(this Stream stream)
    {
        stream.Dispose();
        return stream;
    }
}
