using Voron.IO;

namespace Voron.Torture.Model;

/// <summary>
/// The place where a run keeps its environment, so that it can be opened again, and copied as a killed process would leave it.
/// </summary>
internal sealed class ModelPlace : IDisposable
{
    /// <summary>The address range in bytes for each file in memory: more than the length of any of them.</summary>
    private const long UsualReservation = 1L << 30;

    private readonly bool _inMemory;
    private MemoryDisk? _disk;
    private string _directory = "";

    /// <param name="reservation">The number of bytes that a file in memory may have before it has to move.</param>
    public ModelPlace(bool inMemory, long reservation = UsualReservation)
    {
        _inMemory = inMemory;
        if (inMemory)
            _disk = new MemoryDisk(reservation);
        else
            _directory = Directory.CreateTempSubdirectory("voron-model-").FullName;
    }

    /// <param name="watch">In memory only: returns the file that the engine gets instead of the original, by name.</param>
    public StorageEnvironment Open(StorageOptions options, Func<string, DiskFile, DiskFile>? watch = null) =>
        _inMemory ? StorageEnvironment.Open(new LentDisk(_disk!, options.ReadOnly, watch), options) : StorageEnvironment.Open(_directory, options);

    /// <summary>Copies every file in its current state, while the environment is open and idle.</summary>
    public ModelPlace Copy()
    {
        var copy = new ModelPlace(_inMemory);
        if (!_inMemory)
        {
            foreach (var file in Directory.GetFiles(_directory))
                File.Copy(file, Path.Combine(copy._directory, Path.GetFileName(file)), overwrite: true);
            return copy;
        }

        foreach (var entry in _disk!.List())
        {
            using var source = _disk.Open(entry.Name, DiskOpen.Existing, DiskAccess.Buffered);
            using var target = copy._disk!.Open(entry.Name, DiskOpen.New, DiskAccess.Buffered);
            var bytes = new byte[entry.Length];
            source.Read(0, bytes);
            target.Write(0, bytes);
        }

        return copy;
    }

    public void Dispose()
    {
        _disk?.Dispose();
        _disk = null;
        if (_directory.Length > 0)
            Directory.Delete(_directory, recursive: true);
        _directory = "";
    }

    /// <summary>A disk that outlives the environment that uses it.</summary>
    private sealed class LentDisk(IDisk disk, bool readOnly, Func<string, DiskFile, DiskFile>? watch) : IDisk
    {
        public string Path => disk.Path;

        public object Place => disk.Place;

        public int Alignment => disk.Alignment;

        public bool IsReadOnly => readOnly;

        public bool IsUnbuffered => disk.IsUnbuffered;

        public bool MapsSeeUnbufferedWrites => disk.MapsSeeUnbufferedWrites;

        public bool WaitsForDevice => disk.WaitsForDevice;

        public IReadOnlyList<DiskEntry> List() => disk.List();

        public DiskFile Open(string name, DiskOpen open, DiskAccess access)
        {
            if (readOnly && open == DiskOpen.New)
                throw new ModelMismatchException($"an environment that is open for reading only makes the file {name}");
            var file = disk.Open(name, open, access);
            return watch is null ? file : watch(name, file);
        }

        public DiskFile OpenTemporary(DiskAccess access) => disk.OpenTemporary(access);

        public void Rename(string source, string target)
        {
            if (readOnly)
                throw new ModelMismatchException($"an environment that is open for reading only renames {source}");
            disk.Rename(source, target);
        }

        public void Delete(string name)
        {
            if (readOnly)
                throw new ModelMismatchException($"an environment that is open for reading only deletes {name}");
            disk.Delete(name);
        }

        public void SyncDirectory() => disk.SyncDirectory();

        public IDisposable Lock(string name, bool shared) => disk.Lock(name, shared);

        public void Dispose()
        {
        }
    }
}
