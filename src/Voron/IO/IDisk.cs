namespace Voron.IO;

/// <summary>
/// The seam between the engine and the operating system: one directory of files. All external effects of the engine pass through this interface,
/// so that a simulated disk can replace it.
/// </summary>
/// <remarks>
/// The creation, renaming and deletion of files are durable only after <see cref="SyncDirectory"/>; the growth and content of a buffered file only
/// after its <see cref="DiskFile.Sync"/>. Every failure is a <see cref="DiskException"/>. Names are file names without a path, and refer to
/// regular files on the directory's own volume: links and pipes are refused. Several threads may call any members concurrently.
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
    /// True when an unbuffered write, once it has returned, is visible to buffered reads and in maps of the same file, regardless of concurrent
    /// writes. Otherwise a mapped file is only written buffered.
    /// </summary>
    bool MapsSeeUnbufferedWrites => false;

    /// <summary>
    /// True when nothing remains of the files once the disk is disposed, so that no work is worthwhile for their sake alone: nothing has to be
    /// flushed, confirmed, verified or prepared.
    /// </summary>
    bool IsVolatile => false;

    /// <summary>True when a call that writes several adjacent blocks is one write for the device.</summary>
    bool GathersWrites => true;

    /// <summary>True when a write or a sync waits for a device, so that two of them may take less time concurrently, on two threads.</summary>
    bool WaitsForDevice => false;

    /// <summary>
    /// The duration at or above which an unbuffered write is slow enough for a second concurrent one to the same file. The maximum where the system
    /// performs the writes to a file one after the other.
    /// </summary>
    TimeSpan SlowWrite => TimeSpan.MaxValue;

    /// <summary>True when other processes can open the files by their names while this one uses them.</summary>
    bool IsVisibleToOthers => false;

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
    DiskFile OpenTemporary(DiskAccess access);

    /// <summary>
    /// True when files can be made without a name, and get one later. Wherever such a name is found after a power cut, so is everything that was
    /// synced before the file got it.
    /// </summary>
    bool HasUnnamedFiles => false;

    /// <summary>
    /// Creates a write-through file without a name. Nothing is left of it, and the directory has not changed, if it is closed, or the process dies,
    /// before <see cref="Link"/>.
    /// </summary>
    DiskFile OpenUnnamed() => throw new NotSupportedException();

    /// <summary>Names a file of <see cref="OpenUnnamed"/>. Never replaces another: <see cref="DiskError.AlreadyExists"/>.</summary>
    void Link(DiskFile file, string name) => throw new NotSupportedException();

    /// <summary>Renames a file. Never replaces another: <see cref="DiskError.AlreadyExists"/> when <paramref name="target"/> exists.</summary>
    void Rename(string source, string target);

    void Delete(string name);

    /// <summary>Makes creations, renamings and deletions durable.</summary>
    void SyncDirectory();

    /// <summary>
    /// Locks an existing file, exclusively or shared, immediately or not at all (<see cref="DiskError.Locked"/>). The lock belongs to the file,
    /// not to its name: it is the same lock through every path to the directory and every other name of the file. It ends when the result is
    /// disposed or the process dies, and does not prevent reads or writes of the file's bytes.
    /// </summary>
    /// <remarks>
    /// The name still referred to the locked file after the lock was taken. While the lock is held, the disk changes no name in the directory once
    /// the lock's name refers to another file or to none: the directory then belongs to another environment. The lock follows a rename of its
    /// file.
    /// </remarks>
    IDisposable Lock(string name, bool shared);
}

/// <summary>A file in the directory of the environment.</summary>
internal readonly record struct DiskEntry(string Name, long Length);

/// <summary>Whether a file must exist.</summary>
internal enum DiskOpen
{
    /// <summary>It must exist; otherwise <see cref="DiskError.NotFound"/>.</summary>
    Existing,

    /// <summary>It must not exist; otherwise <see cref="DiskError.AlreadyExists"/>.</summary>
    New,
}
