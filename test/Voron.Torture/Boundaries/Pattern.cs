namespace Voron.Torture.Boundaries;

/// <summary>Bytes that differ between any two places that are near each other or a multiple of a page apart.</summary>
internal sealed class Pattern(long length, bool isSeekable) : Stream
{
    // A prime, so that pages that have been swapped do not look alike.
    private const int Period = 1_000_003;

    private static readonly byte[] Bytes = Make();

    private long _position;

    public override bool CanRead => true;

    public override bool CanSeek => isSeekable;

    public override bool CanWrite => false;

    public override long Length => isSeekable ? length : throw new NotSupportedException();

    public override long Position
    {
        get => isSeekable ? _position : throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public static void Fill(long offset, Span<byte> target)
    {
        while (!target.IsEmpty)
        {
            var from = (int)(offset % Period);
            var part = Math.Min(Period - from, target.Length);
            Bytes.AsSpan(from, part).CopyTo(target);
            target = target[part..];
            offset += part;
        }
    }

    public override int Read(byte[] buffer, int offset, int count) => Read(buffer.AsSpan(offset, count));

    public override int Read(Span<byte> buffer)
    {
        var count = (int)Math.Min(buffer.Length, length - _position);
        Fill(_position, buffer[..count]);
        _position += count;
        return count;
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        Task.FromResult(Read(buffer.AsSpan(offset, count)));

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default) => new(Read(buffer.Span));

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    private static byte[] Make()
    {
        var bytes = new byte[Period];
        new Random(5).NextBytes(bytes);
        return bytes;
    }
}
