namespace Voron.Backup;

/// <summary>Receives the bytes of a backup file in order.</summary>
internal interface IFrameOutput : IAsyncDisposable
{
    /// <summary>Notes how many page bytes will be written.</summary>
    /// <param name="bytes">The number of bytes.</param>
    /// <param name="mayShrink">True if compression may reduce them.</param>
    /// <exception cref="StorageFullException">There is no space for them.</exception>
    void Expect(long bytes, bool mayShrink);

    /// <summary>Writes the next bytes. The caller may change them once the task has completed.</summary>
    Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken stop);

    /// <summary>Makes all bytes durable, as far as the output can do that, and gives the file its name.</summary>
    Task FinishAsync(CancellationToken stop);
}
