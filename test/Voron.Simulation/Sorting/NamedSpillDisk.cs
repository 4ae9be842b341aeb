using Voron.IO;
using Voron.Simulation.Disks;

namespace Voron.Simulation.Sorting;

/// <summary>A disk whose temporary files have names, so that a test can damage them.</summary>
internal sealed class NamedSpillDisk(SimulatedDisk disk) : IDisk
{
    /// <summary>The name of the only temporary file.</summary>
    public const string SpillName = "spill";

    public string Path => disk.Path;

    public int Alignment => disk.Alignment;

    public bool IsReadOnly => disk.IsReadOnly;

    public bool IsUnbuffered => disk.IsUnbuffered;

    public IReadOnlyList<DiskEntry> List() => disk.List();

    public DiskFile Open(string name, DiskOpen open, DiskAccess access) => disk.Open(name, open, access);

    public DiskFile OpenTemporary(DiskAccess access) => disk.Open(SpillName, DiskOpen.New, access);

    public void Rename(string source, string target) => disk.Rename(source, target);

    public void Delete(string name) => disk.Delete(name);

    public void SyncDirectory() => disk.SyncDirectory();

    public IDisposable Lock(string name, bool shared) => disk.Lock(name, shared);

    public void Dispose() => disk.Dispose();
}
