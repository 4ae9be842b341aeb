namespace Voron.Tool.Streams;

/// <summary>A stream whose asynchronous reads end when they are cancelled, even if the read below waits for ever.</summary>
/// <remarks>A read that was cancelled goes on below, and takes the next bytes: the stream cannot be used any more.</remarks>
internal sealed class CancellableInput(Stream inner) : Stream
{
    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override int Read(byte[] buffer, int offset, int count) => inner.Read(buffer, offset, count);

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        // Into memory of its own, since a read that was cancelled still writes there.
        var bytes = new byte[buffer.Length];
        var read = await Task.Run(() => inner.Read(bytes, 0, bytes.Length), cancellationToken).WaitAsync(cancellationToken).ConfigureAwait(false);
        bytes.AsSpan(0, read).CopyTo(buffer.Span);
        return read;
    }

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
