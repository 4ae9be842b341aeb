namespace Voron.IO;

/// <summary>How the bytes of a file reach the device.</summary>
internal enum DiskAccess
{
    /// <summary>
    /// Through the page cache: a write is durable after <see cref="DiskFile.Sync"/>. Reads, maps and writes see the same content.
    /// </summary>
    Buffered,

    /// <summary>
    /// Bypasses the page cache: a write is durable when it returns. Offsets, lengths and addresses are multiples of
    /// <see cref="IDisk.Alignment"/>. Where the file system refuses this, the disk falls back to a buffered write and a sync,
    /// with one warning for the whole disk.
    /// </summary>
    WriteThrough,

    /// <summary>
    /// Bypasses the page cache, aligned like <see cref="WriteThrough"/>, but a write is durable only after a <see cref="DiskFile.Sync"/> of this
    /// or another open file of the same name. Where the file system refuses this, the same as <see cref="Buffered"/>.
    /// </summary>
    Unbuffered,
}

/// <summary>Whether a file must exist.</summary>
internal enum DiskOpen
{
    /// <summary>It must exist; otherwise <see cref="DiskError.NotFound"/>.</summary>
    Existing,

    /// <summary>It must not exist; otherwise <see cref="DiskError.AlreadyExists"/>.</summary>
    New,
}

/// <summary>A file in the directory of the environment.</summary>
internal readonly record struct DiskEntry(string Name, long Length);

/// <summary>
/// The seam between the engine and the operating system: one directory of files. Every effect of the engine on the outside goes through this
/// interface, so that a simulated disk can take its place.
/// </summary>
/// <remarks>
/// The creation, renaming and deletion of files are durable only after <see cref="SyncDirectory"/>; the growth and content of a buffered
/// file only after its <see cref="DiskFile.Sync"/>. Every failure is a <see cref="DiskException"/>. Names are file names
/// without a path, and lead to regular files on the directory's own volume: links and pipes are refused. Several threads may call any members
/// concurrently.
/// </remarks>
internal interface IDisk : IDisposable
{
    /// <summary>The directory, as messages show it.</summary>
    string Path { get; }

    /// <summary>An object that is equal for disks of the same directory.</summary>
    object Place => Path;

    /// <summary>The alignment in bytes that write-through files require of offsets, lengths and addresses: 4096.</summary>
    int Alignment { get; }

    /// <summary>True when opened for reading only: no member then changes a byte, a name or a length.</summary>
    bool IsReadOnly { get; }

    /// <summary>True when write-through files are unbuffered and durable without a sync, false after a fallback.</summary>
    bool IsUnbuffered { get; }

    /// <summary>
    /// True when an unbuffered write, once it has returned, is visible to buffered reads and in maps of the same file, whatever else is written
    /// at the same time. Otherwise a mapped file is only written buffered.
    /// </summary>
    bool MapsSeeUnbufferedWrites => false;

    /// <summary>The size of the volume in bytes, used and free; <see cref="long.MaxValue"/> where that is not known.</summary>
    long VolumeBytes => long.MaxValue;

    /// <summary>The bytes that can still be written, as far as the system reports them: a hint, since other programs write too.</summary>
    long AvailableBytes => long.MaxValue;

    /// <summary>Returns the files that exist, in no particular order.</summary>
    IReadOnlyList<DiskEntry> List();

    DiskFile Open(string name, DiskOpen open, DiskAccess access);

    /// <summary>
    /// Creates a file without a name, or one whose name vanishes with it: nothing is left of it when it is closed or the process dies.
    /// </summary>
    DiskFile OpenTemporary();

    /// <summary>Renames a file. Never replaces another: <see cref="DiskError.AlreadyExists"/> when <paramref name="target"/> exists.</summary>
    void Rename(string source, string target);

    void Delete(string name);

    /// <summary>Makes creations, renamings and deletions durable.</summary>
    void SyncDirectory();

    /// <summary>
    /// Locks an existing file, exclusively or shared, at once or not at all (<see cref="DiskError.Locked"/>). The lock belongs to the file,
    /// not to its name: it is the same lock through every path to the directory and every other name of the file. It ends when the
    /// result is disposed or the process dies, and does not prevent reads or writes of the file's bytes.
    /// </summary>
    /// <remarks>
    /// The name still led to the locked file after the lock was taken. While the lock is held, the disk changes no name in the directory once the
    /// lock's name leads to another file or to none: the directory then belongs to another environment. The lock follows a rename of its file.
    /// </remarks>
    IDisposable Lock(string name, bool shared);
}

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
    /// Makes sure that the range has blocks of its own, extending the file to the end of the range, so that a later write to it cannot run
    /// out of space. New bytes read as zeros; existing bytes stay. Durable after <see cref="Sync"/>.
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

/// <summary>A range of native memory to write to a file.</summary>
internal readonly unsafe struct IoBlock
{
    public readonly byte* Address;

    /// <summary>In bytes.</summary>
    public readonly nuint Length;

    public IoBlock(byte* address, nuint length)
    {
        Address = address;
        Length = length;
    }
}

/// <summary>A read-only view of the first bytes of a file. It shows writes through the file.</summary>
internal abstract unsafe class FileMap : IDisposable
{
    /// <summary>The address of the file's first byte; it does not change during the map's lifetime.</summary>
    public byte* Address { get; protected set; }

    /// <summary>The number of mapped bytes; never more than the file has.</summary>
    public long Length { get; protected set; }

    /// <summary>Maps more of the file at the same address. Returns false when there is no room after the map: a new map is needed then.</summary>
    public abstract bool TryExtend(long length);

    /// <summary>Removes the tail from the map before the file is truncated. The caller has made sure that the tail is not in use.</summary>
    public abstract void Shrink(long length);

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected abstract void Dispose(bool disposing);
}
