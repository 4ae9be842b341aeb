using Voron.IO;
using Voron.Paging;

namespace Voron.Salvaging;

/// <summary>The directory of a damaged environment, every byte of which can be read: bytes that the device cannot read are zeros.</summary>
/// <param name="disk">The directory, opened for reading.</param>
/// <param name="damage">Receives the places that cannot be read.</param>
internal sealed class SourceDisk(IDisk disk, DamageList damage) : IDisk
{
    public string Path => disk.Path;

    public object Place => disk.Place;

    public int Alignment => disk.Alignment;

    public bool IsReadOnly => true;

    public bool IsUnbuffered => disk.IsUnbuffered;

    public IReadOnlyList<DiskEntry> List() => disk.List();

    public DiskFile Open(string name, DiskOpen open, DiskAccess access) => Open(name, access, 0);

    /// <summary>Opens the data file with a minimum length: bytes after its end, or all if it is missing, read as zeros.</summary>
    public DiskFile OpenDataFile(long bytes) => Open(DataFile.FileName, DiskAccess.Buffered, bytes);

    public DiskFile OpenTemporary(DiskAccess access) => throw ReadOnly("create a temporary file");

    public void Rename(string source, string target) => throw ReadOnly("rename");

    public void Delete(string name) => throw ReadOnly("delete");

    public void SyncDirectory() => throw ReadOnly("sync");

    public IDisposable Lock(string name, bool shared) => disk.Lock(name, shared);

    public void Dispose() => disk.Dispose();

    private SourceFile Open(string name, DiskAccess access, long bytes)
    {
        DiskFile? file = null;
        try
        {
            file = disk.Open(name, DiskOpen.Existing, access);
        }
        catch (DiskException e) when (bytes > 0 || e.Error != DiskError.NotFound)
        {
            damage.Add(name, $"'{System.IO.Path.Combine(Path, name)}' cannot be opened: {e.Message}");
        }

        return new SourceFile(file, System.IO.Path.Combine(Path, name), access, bytes, (offset, why) => damage.AddUnreadable(name, offset, why));
    }

    private DiskException ReadOnly(string operation) => new(DiskError.AccessDenied, operation, Path, "a salvage never changes its source");
}
