namespace Voron.Documents;

/// <summary>Reads a source, counts its bytes, and keeps the exception with which it broke off.</summary>
/// <param name="source">The source, which its owner disposes.</param>
internal sealed class SourceStream(Stream source) : Stream
{
    public long BytesRead { get; private set; }

    /// <summary>The exception with which the source broke off; null if it has not.</summary>
    public Exception? Failure { get; private set; }

    public override bool CanRead => true;

    public override bool CanSeek => false;

    public override bool CanWrite => false;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => BytesRead;
        set => throw new NotSupportedException();
    }

    public override async ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        try
        {
            var count = await source.ReadAsync(buffer, cancellationToken).ConfigureAwait(false);
            BytesRead += count;
            return count;
        }
        catch (Exception e) when (e is not OperationCanceledException || !cancellationToken.IsCancellationRequested)
        {
            Failure = e;
            throw;
        }
    }

    public override Task<int> ReadAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        ReadAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override int Read(byte[] buffer, int offset, int count)
    {
        try
        {
            var read = source.Read(buffer, offset, count);
            BytesRead += read;
            return read;
        }
        catch (Exception e)
        {
            Failure = e;
            throw;
        }
    }

    public override void Flush()
    {
    }

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    public override void Write(byte[] buffer, int offset, int count) => throw new NotSupportedException();
}
