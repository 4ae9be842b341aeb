namespace Voron.Backup;

/// <summary>A user's stream, which is left open.</summary>
internal sealed class StreamOutput(Stream stream) : IFrameOutput
{
    public void Expect(long bytes, bool mayShrink)
    {
    }

    // Not every stream observes its token.
    public async Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        await stream.WriteAsync(bytes, stop).ConfigureAwait(false);
    }

    public Task FinishAsync(CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        return stream.FlushAsync(stop);
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
