using Voron.IO;

namespace Voron.Backup;

/// <summary>A read-only view of a disk, with one of its files under another name.</summary>
/// <remarks>The holder of the disk has locked that file, so it counts as locked here. Disposing this object has no effect on the disk.</remarks>
/// <param name="disk">The disk.</param>
/// <param name="actual">The name of the file on the disk.</param>
/// <param name="shown">Its name here.</param>
internal sealed class RenamedFileDisk(IDisk disk, string actual, string shown) : IDisk
{
    public string Path => disk.Path;

    public object Place => disk.Place;

    public int Alignment => disk.Alignment;

    public bool IsReadOnly => true;

    public bool IsUnbuffered => disk.IsUnbuffered;

    public bool MapsSeeUnbufferedWrites => disk.MapsSeeUnbufferedWrites;

    public bool IsVolatile => disk.IsVolatile;

    public bool WaitsForDevice => disk.WaitsForDevice;

    public long VolumeBytes => disk.VolumeBytes;

    public long AvailableBytes => disk.AvailableBytes;

    public IReadOnlyList<DiskEntry> List() =>
        disk.List().Select(entry => entry.Name == actual ? entry with { Name = shown } : entry).ToList();

    public DiskFile Open(string name, DiskOpen open, DiskAccess access) =>
        open == DiskOpen.Existing ? disk.Open(ActualName(name), open, access) : throw ReadOnly("create", name);

    public DiskFile OpenTemporary(DiskAccess access) => throw ReadOnly("create", "a temporary file");

    public void Rename(string source, string target) => throw ReadOnly("rename", source);

    public void Delete(string name) => throw ReadOnly("delete", name);

    public void SyncDirectory() => throw ReadOnly("sync", ".");

    public IDisposable Lock(string name, bool shared) => name == shown ? new HeldLock() : disk.Lock(ActualName(name), shared);

    public void Dispose()
    {
    }

    private string ActualName(string name) => name == shown ? actual : name;

    private DiskException ReadOnly(string operation, string name) =>
        new(DiskError.AccessDenied, operation, $"{Path}/{name}", "the directory is open for reading only");

    /// <summary>The lock that the holder of the disk holds and releases.</summary>
    private sealed class HeldLock : IDisposable
    {
        public void Dispose()
        {
        }
    }
}
