namespace Voron.IO;

/// <summary>How the bytes of a file reach the device.</summary>
internal enum DiskAccess
{
    /// <summary>
    /// Through the page cache: a write is durable after <see cref="DiskFile.Sync"/>. Reads, maps and writes see one content.
    /// </summary>
    Buffered,

    /// <summary>
    /// Past the page cache: a write is durable when it returns. Offsets, lengths and addresses are multiples of
    /// <see cref="IDisk.Alignment"/>. Where the file system refuses, the disk falls back to a buffered write and a sync,
    /// with one warning for the whole disk.
    /// </summary>
    WriteThrough,

    /// <summary>
    /// Past the page cache, aligned like <see cref="WriteThrough"/>, but durable only after a <see cref="DiskFile.Sync"/>, of
    /// this or of another open file of the same name. Where the file system refuses, as <see cref="Buffered"/>.
    /// </summary>
    Unbuffered,
}

/// <summary>Whether a file must exist.</summary>
internal enum DiskOpen
{
    /// <summary>It must; else <see cref="DiskError.NotFound"/>.</summary>
    Existing,

    /// <summary>It must not; else <see cref="DiskError.AlreadyExists"/>.</summary>
    New,
}

/// <summary>A file in the directory of the environment.</summary>
internal readonly record struct DiskEntry(string Name, long Length);

/// <summary>
/// The seam between the engine and the operating system: one directory of files. Everything that the engine does to the
/// outside goes through here, so that a simulated disk can stand in its place.
/// </summary>
/// <remarks>
/// Creation, renaming and deletion are durable only after <see cref="SyncDirectory"/>; growth and content of a buffered
/// file only after its <see cref="DiskFile.Sync"/>. Every failure is a <see cref="DiskException"/>. Names are file names
/// without a path, and lead to regular files of the directory's own volume: links and pipes are refused. All members may be
/// called from several threads at once.
/// </remarks>
internal interface IDisk : IDisposable
{
    /// <summary>The directory, as it stands in messages.</summary>
    string Path { get; }

    /// <summary>Equal for disks that are the same directory.</summary>
    object Place => Path;

    /// <summary>The alignment in bytes that write-through files ask of offsets, lengths and addresses: 4096.</summary>
    int Alignment { get; }

    /// <summary>True when opened for reading only: no member may then change a byte, a name or a length.</summary>
    bool IsReadOnly { get; }

    /// <summary>True when write-through files are unbuffered and durable by themselves, false after a fallback.</summary>
    bool IsUnbuffered { get; }

    /// <summary>
    /// True when an unbuffered write is seen, once it has returned, by buffered reads and in maps of the same file, whatever is
    /// written beside it. Else a file that is mapped is written buffered only.
    /// </summary>
    bool MapsSeeUnbufferedWrites => false;

    /// <summary>How many bytes the volume has, used and free; the greatest number where that is not known.</summary>
    long VolumeBytes => long.MaxValue;

    /// <summary>Bytes that may still be written, as far as the system tells: a hint, since others write too.</summary>
    long AvailableBytes => long.MaxValue;

    /// <summary>The files that exist, in no particular order.</summary>
    IReadOnlyList<DiskEntry> List();

    DiskFile Open(string name, DiskOpen open, DiskAccess access);

    /// <summary>
    /// Makes a file without a name, or one whose name goes with it: nothing is left of it when it is closed or the process dies.
    /// </summary>
    DiskFile OpenTemporary();

    /// <summary>Renames a file. Never replaces another: <see cref="DiskError.AlreadyExists"/> when there is a <paramref name="target"/>.</summary>
    void Rename(string source, string target);

    void Delete(string name);

    /// <summary>Makes creations, renamings and deletions durable.</summary>
    void SyncDirectory();

    /// <summary>
    /// Locks a file that exists, exclusively or shared, at once or not at all (<see cref="DiskError.Locked"/>). The lock belongs to the file,
    /// not to its name: through every path to the directory, and every other name of the file, it is the same one. It ends when the
    /// result is disposed or the process dies, and keeps nobody from reading or writing the file's bytes.
    /// </summary>
    /// <remarks>
    /// When it returns, the name still led to the locked file. While it is held, the disk changes no name in the directory once the
    /// name leads to another file, or to none: then the directory belongs to somebody else. A rename of the locked file takes the lock along.
    /// </remarks>
    IDisposable Lock(string name, bool shared);
}

/// <summary>An open file. Thread-safe, positional, whole transfers only: a short read is <see cref="DiskError.EndOfFile"/>.</summary>
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

    /// <summary>Cuts or extends the file; what is new reads as zeros and need not have blocks.</summary>
    public abstract void SetLength(long length);

    /// <summary>
    /// Makes sure that the range has blocks of its own, extending the file to its end, so that a later write to it cannot run
    /// out of space. What is new reads as zeros; what is there stays. Durable after <see cref="Sync"/>.
    /// </summary>
    public abstract void Allocate(long offset, long length);

    /// <summary>Gives the blocks of a range back; it reads as zeros then. False when the file system cannot.</summary>
    public abstract bool TryPunchHole(long offset, long length);

    /// <summary>Fills <paramref name="destination"/> from <paramref name="offset"/>.</summary>
    public abstract void Read(long offset, Span<byte> destination);

    /// <summary>Writes everything at <paramref name="offset"/>, extending the file when it ends before.</summary>
    public abstract void Write(long offset, ReadOnlySpan<byte> source);

    /// <summary>Writes the blocks one behind the other, in as few calls as the system allows.</summary>
    public abstract void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks);

    /// <summary>Makes what was written, and the length, durable.</summary>
    public abstract void Sync();

    /// <summary>
    /// Has what is durable leave the page cache, so that the next read asks the device. After a write-back that failed the cache holds
    /// bytes that the device never got, and no later sync tells. Does nothing where there is no cache, or no way to empty it.
    /// </summary>
    public virtual void DropCache()
    {
    }

    /// <summary>
    /// Maps the first <paramref name="length"/> bytes (of a buffered file, read-only), leaving address space behind them to
    /// extend into where the system allows. The file must be at least that long.
    /// </summary>
    public abstract FileMap Map(long length);

    /// <summary>
    /// Maps a part of the file, which has blocks for it, as memory to be written whose content nobody else reads. A disk that
    /// has no such maps gives plain memory.
    /// </summary>
    public virtual ScratchMap MapScratch(long offset, long length) => new MemoryScratchMap(length);

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected abstract void Dispose(bool disposing);
}

/// <summary>A range of native memory to be written.</summary>
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

/// <summary>A read-only view of the first bytes of a file. Writes through the file are seen in it.</summary>
internal abstract unsafe class FileMap : IDisposable
{
    /// <summary>The address of the file's first byte; it does not change while the map lives.</summary>
    public byte* Address { get; protected set; }

    /// <summary>How many bytes are mapped; never more than the file has.</summary>
    public long Length { get; protected set; }

    /// <summary>Maps more of the file at the same address. False when there is no room behind: make a new map then.</summary>
    public abstract bool TryExtend(long length);

    /// <summary>Takes the tail out of the map, before the file is cut. The caller has made sure that nobody uses it.</summary>
    public abstract void Shrink(long length);

    public void Dispose()
    {
        Dispose(true);
        GC.SuppressFinalize(this);
    }

    protected abstract void Dispose(bool disposing);
}
