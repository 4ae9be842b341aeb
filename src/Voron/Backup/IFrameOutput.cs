namespace Voron.Backup;

/// <summary>Takes the bytes of a backup file in their order.</summary>
internal interface IFrameOutput : IAsyncDisposable
{
    /// <summary>Notes how many bytes of pages will come.</summary>
    /// <param name="bytes">The number of bytes.</param>
    /// <param name="mayShrink">True if compression may make them fewer.</param>
    /// <exception cref="StorageFullException">There is no room for them.</exception>
    void Expect(long bytes, bool mayShrink);

    /// <summary>Writes the next bytes. They may be changed when the task has completed.</summary>
    Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken stop);

    /// <summary>Makes all bytes durable, as far as the output can do that, and gives the file its name.</summary>
    Task FinishAsync(CancellationToken stop);
}
