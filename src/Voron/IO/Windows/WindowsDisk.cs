using System.Runtime.InteropServices;
using Voron.Primitives;

namespace Voron.IO.Windows;

/// <summary>
/// A directory on Windows. The directory itself has no sync: a rename waits until it is on the device, and other changes of names need not be
/// durable. The creation of a file is detected, or repeated, at the next opening; a deleted file that reappears has been superseded.
/// </summary>
internal sealed class WindowsDisk : IDisk
{
    private const uint MoveWriteThrough = 8;
    private const int MaxTries = 1000;

    // Protects the list of held locks and their names, which a rename changes. No other lock is taken while it is held.
    private readonly Lock _gate = new();

    private readonly List<WindowsLock> _locks = [];

    private WindowsDisk(string path, bool readOnly)
    {
        Path = path;
        IsReadOnly = readOnly;
    }

    public string Path { get; }

    public int Alignment => DiskRules.Alignment;

    public bool IsReadOnly { get; }

    public bool IsUnbuffered => true;

    public bool WaitsForDevice => true;

    public bool GathersWrites => false;

    public bool IsVisibleToOthers => true;

    public static WindowsDisk Open(string path, bool readOnly, bool acceptsNetwork = false)
    {
        if (!Directory.Exists(path))
            throw new DiskException(DiskError.NotFound, "open", path, "there is no such directory");
        var real = Directory.ResolveLinkTarget(path, returnFinalTarget: true)?.FullName ?? path;
        var root = System.IO.Path.GetPathRoot(real);
        var isShare = real.StartsWith(@"\\", StringComparison.Ordinal) && !real.StartsWith(@"\\?\", StringComparison.Ordinal);
        if (!acceptsNetwork && (isShare || (root is { Length: 3 } && new DriveInfo(root).DriveType == DriveType.Network)))
            throw new DiskException(DiskError.NotSupported, "open", real, "it is on a network file system. Use a local one");
        return new WindowsDisk(real, readOnly);
    }

    public long VolumeBytes => SystemDirectory.VolumeBytes(Path);

    public long AvailableBytes => SystemDirectory.AvailableBytes(Path);

    public IReadOnlyList<DiskEntry> List() => SystemDirectory.List(Path);

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        var path = PathOf(name);
        var isNew = open == DiskOpen.New;
        if (isNew)
        {
            DiskRules.CheckWritable(IsReadOnly, "create", path);
            CheckLocks("create", path);
        }
        var flags = access == DiskAccess.Buffered ? 0 : WindowsHandles.NoBuffering;
        var disposition = isNew ? WindowsHandles.CreateNew : WindowsHandles.OpenExisting;
        var handle = WindowsHandles.Open(path, disposition, IsReadOnly, flags, isNew ? "create" : "open");
        return new WindowsFile(handle, path, access, IsReadOnly);
    }

    /// <summary>Creates a file that the system deletes when its last handle is closed, however that happens.</summary>
    public DiskFile OpenTemporary(DiskAccess access)
    {
        DiskRules.CheckWritable(IsReadOnly, "create", Path);
        CheckLocks("create", Path);
        var flags = WindowsHandles.DeleteOnClose | (access == DiskAccess.Buffered ? 0 : WindowsHandles.NoBuffering);
        for (var number = 0; ; number++)
        {
            var path = PathOf(TemporaryFile.NameOf(number));
            try
            {
                var handle = WindowsHandles.Open(path, WindowsHandles.CreateNew, false, flags, "create");
                return new WindowsFile(handle, path, access, readOnly: false);
            }
            catch (DiskException e) when (e.Error == DiskError.AlreadyExists && number < MaxTries)
            {
                // The file belongs to another owner: try the next name.
            }
        }
    }

    public void Rename(string source, string target)
    {
        var from = PathOf(source);
        var to = PathOf(target);
        DiskRules.CheckWritable(IsReadOnly, "rename", from);
        using (Uninterrupted.Hold(_gate))
        {
            CheckLocks("rename", from);
            if (!Kernel32.MoveFile(from, to, MoveWriteThrough))
                throw SystemErrors.FromWindows(Marshal.GetLastPInvokeError(), "rename", from);
            foreach (var held in _locks)
            {
                if (held.Name == source)
                    held.Name = target;
            }
        }
    }

    public void Delete(string name)
    {
        var path = PathOf(name);
        DiskRules.CheckWritable(IsReadOnly, "delete", path);
        CheckLocks("delete", path);
        if (!File.Exists(path))
            throw new DiskException(DiskError.NotFound, "delete", path, "there is no such file");
        try
        {
            File.Delete(path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, "delete", path);
        }
    }

    public void SyncDirectory() => DiskRules.CheckWritable(IsReadOnly, "sync", Path);

    public IDisposable Lock(string name, bool shared)
    {
        var path = PathOf(name);
        for (var tries = 0; tries < MaxTries; tries++)
        {
            var handle = WindowsHandles.Open(path, WindowsHandles.OpenExisting, shared || IsReadOnly, 0, "lock");
            var taken = WindowsLock.Take(Forget, name, path, handle, shared);
            if (WindowsHandles.Find(path) == taken.Identity)
            {
                using (Uninterrupted.Hold(_gate))
                    _locks.Add(taken);
                return taken;
            }
            taken.Dispose();
        }
        throw new DiskException(DiskError.Failed, "lock", path, $"another file took its place {MaxTries} times in a row");
    }

    public void Dispose()
    {
    }

    /// <summary>Removes a released lock from the locks that the disk checks.</summary>
    private void Forget(WindowsLock held)
    {
        using (Uninterrupted.Hold(_gate))
            _locks.Remove(held);
    }

    /// <summary>
    /// Throws unless the name of each held lock still refers to the locked file, as on POSIX systems: otherwise, the holder of the lock must not
    /// change any names.
    /// </summary>
    private void CheckLocks(string operation, string path)
    {
        using (Uninterrupted.Hold(_gate))
        {
            foreach (var held in _locks)
            {
                var place = PathOf(held.Name);
                if (WindowsHandles.Find(place) != held.Identity)
                {
                    throw new DiskException(
                        DiskError.Failed, operation, path, $"'{place}' was removed or replaced while it was in use. The engine changes nothing in the directory any more");
                }
            }
        }
    }

    private string PathOf(string name)
    {
        DiskRules.CheckName(name);
        return System.IO.Path.Combine(Path, name);
    }
}
