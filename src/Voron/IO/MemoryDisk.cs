using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// A disk of native memory, for environments that live in memory: the same seam, so that no layer above it is skipped. Writes last as long as the
/// process; a file is freed when it no longer has a name, a handle or a map.
/// </summary>
internal sealed class MemoryDisk : IDisk
{
    /// <summary>
    /// In bytes, for each file that may be mapped: addresses only. Large enough that a file hardly ever moves, small enough for thousands of
    /// files.
    /// </summary>
    public const long DefaultReservation = 1L << 34;

    // Protects the names of the files. Comes before the locks of their contents and of the lock table.
    private readonly Lock _gate = new();

    private readonly Dictionary<string, MemoryContent> _files = new(StringComparer.Ordinal);
    private readonly LockTable<MemoryContent> _locks = new();
    private readonly MemoryQuota _quota;
    private readonly Func<string, bool>? _isDiscarded;
    private readonly long _reservation;
    private bool _disposed;

    /// <param name="reservation">The number of bytes that a file can hold before it moves.</param>
    /// <param name="maxBytes">The maximum number of bytes in all files together, except discarded ones.</param>
    /// <param name="isDiscarded">
    /// For an environment of which nothing will be read again once it is closed: returns true for the names of files that it only writes.
    /// </param>
    public MemoryDisk(long reservation = DefaultReservation, long maxBytes = long.MaxValue, Func<string, bool>? isDiscarded = null)
    {
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(reservation);
        ArgumentOutOfRangeException.ThrowIfNegativeOrZero(maxBytes);
        _reservation = reservation;
        _quota = new MemoryQuota(maxBytes);
        _isDiscarded = isDiscarded;
    }

    public string Path => "memory";

    public object Place => this;

    public int Alignment => DiskRules.Alignment;

    public bool IsReadOnly => false;

    public bool IsUnbuffered => true;

    public bool IsVolatile => _isDiscarded != null;

    public long VolumeBytes => Math.Min(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes, _quota.Limit);

    public long AvailableBytes => _quota.Free;

    public IReadOnlyList<DiskEntry> List()
    {
        using (Uninterrupted.Hold(_gate))
        {
            var entries = new List<DiskEntry>(_files.Count);
            foreach (var (name, content) in _files)
                entries.Add(new DiskEntry(name, content.Length));
            return entries;
        }
    }

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        DiskRules.CheckName(name);
        using (Uninterrupted.Hold(_gate))
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            var exists = _files.TryGetValue(name, out var content);
            if (open == DiskOpen.New)
            {
                if (exists)
                    throw new DiskException(DiskError.AlreadyExists, "create", PathOf(name), "there is already a file of that name");
                content = Create(name, access);
            }
            else if (!exists)
            {
                throw NotFound("open", name);
            }
            return new MemoryFile(content!, PathOf(name), access);
        }
    }

    public DiskFile OpenTemporary(DiskAccess access) => TemporaryFile.Open(this, access);

    public void Rename(string source, string target)
    {
        DiskRules.CheckName(source);
        DiskRules.CheckName(target);
        using (Uninterrupted.Hold(_gate))
        {
            if (!_files.TryGetValue(source, out var content))
                throw NotFound("rename", source);
            if (_files.ContainsKey(target))
                throw new DiskException(DiskError.AlreadyExists, "rename", PathOf(source), $"there is already a file '{target}'");
            _files.Remove(source);
            _files.Add(target, content);
        }
    }

    public void Delete(string name)
    {
        DiskRules.CheckName(name);
        using (Uninterrupted.Hold(_gate))
        {
            if (!_files.Remove(name, out var content))
                throw NotFound("delete", name);
            content.Release();
        }
    }

    public void SyncDirectory()
    {
    }

    public IDisposable Lock(string name, bool shared)
    {
        DiskRules.CheckName(name);
        using (Uninterrupted.Hold(_gate))
        {
            ObjectDisposedException.ThrowIf(_disposed, this);
            return _locks.Take(_files.TryGetValue(name, out var content) ? content : throw NotFound("lock", name), shared, PathOf(name));
        }
    }

    public void Dispose()
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_disposed)
                return;
            _disposed = true;
            foreach (var content in _files.Values)
                content.Release();
            _files.Clear();
        }
    }

    private MemoryContent Create(string name, DiskAccess access)
    {
        var reservation = access == DiskAccess.Buffered ? _reservation : Math.Min(_reservation, MemoryBytes.SmallReservation);
        MemoryContent content = _isDiscarded?.Invoke(name) == true
            ? new DiscardedBytes(PathOf(name))
            : new MemoryBytes(PathOf(name), reservation, _quota);
        _files.Add(name, content);
        return content;
    }

    private string PathOf(string name) => $"{Path}/{name}";

    private DiskException NotFound(string operation, string name) =>
        new(DiskError.NotFound, operation, PathOf(name), "there is no such file");
}
