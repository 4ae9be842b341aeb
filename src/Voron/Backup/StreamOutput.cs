namespace Voron.Backup;

/// <summary>A stream of the user's, which is left open.</summary>
internal sealed class StreamOutput(Stream stream) : IFrameOutput
{
    public void Expect(long bytes, bool mayShrink)
    {
    }

    public async Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken stop) =>
        await stream.WriteAsync(bytes, stop).ConfigureAwait(false);

    public Task FinishAsync(CancellationToken stop) => stream.FlushAsync(stop);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
