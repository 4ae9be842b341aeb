namespace Voron.IO;

/// <summary>An open file. Thread-safe and positional, with complete transfers only: a short read is <see cref="DiskError.EndOfFile"/>.</summary>
internal abstract unsafe class DiskFile : IDisposable
{
    protected DiskFile(string path, DiskAccess access)
    {
        Path = path;
        Access = access;
    }

    public string Path { get; }

    public DiskAccess Access { get; }

    /// <summary>The length in bytes.</summary>
    public abstract long Length { get; }

    /// <summary>Truncates or extends the file; new bytes read as zeros and need not have blocks.</summary>
    public abstract void SetLength(long length);

    /// <summary>
    /// Ensures that the range has its own blocks, extending the file to the end of the range, so that a later write to it cannot run out of space.
    /// New bytes read as zeros; existing bytes stay. Durable after <see cref="Sync"/>.
    /// </summary>
    public abstract void Allocate(long offset, long length);

    /// <summary>Frees the blocks of a range, which then reads as zeros. Returns false when the file system cannot.</summary>
    public abstract bool TryPunchHole(long offset, long length);

    /// <summary>Fills <paramref name="destination"/> from <paramref name="offset"/>.</summary>
    public abstract void Read(long offset, Span<byte> destination);

    /// <summary>Writes all bytes at <paramref name="offset"/>, extending the file when it ends before them.</summary>
    public abstract void Write(long offset, ReadOnlySpan<byte> source);

    /// <summary>Writes the blocks one after another, in as few calls as the system allows.</summary>
    public abstract void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks);

    /// <summary>Makes the written bytes and the length durable.</summary>
    public abstract void Sync();

    /// <summary>
    /// Writes a range of a buffered file back to the device, and returns when the device has it, without emptying the device's cache. Nothing is
    /// durable before the next <see cref="Sync"/>, which then has less to do. A failure counts as a failed sync: the system reports it only once.
    /// </summary>
    /// <returns>False where the system or the file system cannot.</returns>
    public virtual bool TryWriteBack(long offset, long length) => false;

    /// <summary>
    /// Drops the file's durable content from the page cache, so that the next read goes to the device. After a failed write-back, the cache
    /// holds bytes that the device never received, and no later sync reports it. Does nothing where there is no cache or no way to empty it.
    /// </summary>
    public virtual void DropCache()
    {
    }

    /// <summary>
    /// Maps the first <paramref name="length"/> bytes (of a buffered file, read-only), leaving address space after them for
    /// extending the map where the system allows it. The file must be at least that long.
    /// </summary>
    public abstract FileMap Map(long length);

    /// <summary>
    /// Maps a part of the file that has its blocks as writable memory whose content only the caller reads. A disk without
    /// such maps returns plain memory.
    /// </summary>
    public virtual ScratchMap MapScratch(long offset, long length) => new MemoryScratchMap(length);

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected abstract void Dispose(bool disposing);
}
