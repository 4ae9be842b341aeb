using System.IO.Pipelines;

namespace Voron.Backup;

/// <summary>A user's pipe, which is left uncompleted.</summary>
internal sealed class PipeOutput(PipeWriter pipe) : IFrameOutput
{
    public void Expect(long bytes, bool mayShrink)
    {
    }

    /// <exception cref="IOException">The reader of the pipe has completed.</exception>
    /// <exception cref="OperationCanceledException">The writing was cancelled, here or by the pipe.</exception>
    public async Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken stop)
    {
        var result = await pipe.WriteAsync(bytes, stop).ConfigureAwait(false);
        if (result.IsCanceled)
            throw new OperationCanceledException("The pipe's pending flush was cancelled, so the backup was not finished.");
        if (result.IsCompleted)
            throw new IOException("The reader of the pipe was completed before the backup was finished.");
    }

    public async Task FinishAsync(CancellationToken stop) => await pipe.FlushAsync(stop).ConfigureAwait(false);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
