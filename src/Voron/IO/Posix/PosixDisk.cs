using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using Microsoft.Win32.SafeHandles;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.IO.Posix;

/// <summary>A directory on Linux or macOS.</summary>
/// <remarks>
/// The directory is held open, and names are looked up in it rather than along a path: a directory that is renamed while in use stays the same
/// one. Links below it are not followed, and only regular files on its own mount are opened. Links to the directory are the user's responsibility.
/// </remarks>
internal sealed unsafe class PosixDisk : IDisk
{
    /// <summary>The number of attempts to lock a file whose name refers to another file by the time the lock is taken.</summary>
    private const int MaxTries = 1000;

    private readonly PosixVolume _volume;
    private readonly SafeFileHandle _directory;
    private readonly ulong _mount;
    private readonly int _fileMode;

    // Protects the list of held locks and their names, which a rename changes. No other lock is taken while it is held.
    private readonly Lock _gate = new();

    private readonly List<PosixLock> _locks = [];

    private PosixDisk(string path, bool readOnly, SafeFileHandle directory, PosixVolume volume, UnixFileMode fileMode)
    {
        Path = path;
        IsReadOnly = readOnly;
        _directory = directory;
        _volume = volume;
        _mount = PosixFileInfo.Of(directory, path).Mount;
        _fileMode = (int)fileMode;
    }

    public string Path { get; }

    public int Alignment => DiskRules.Alignment;

    public bool IsReadOnly { get; }

    public bool MapsSeeUnbufferedWrites => _volume.Kind.LocksWrites;

    public bool IsUnbuffered => _volume.IsUnbuffered;

    public bool WaitsForDevice => true;

    public TimeSpan SlowWrite => OperatingSystem.IsLinux() && IsUnbuffered ? TimeSpan.FromMicroseconds(750) : TimeSpan.MaxValue;

    public bool IsVisibleToOthers => true;

    public bool HasUnnamedFiles => _volume.Kind.NamesLate && !IsReadOnly;

    /// <param name="path">A full path.</param>
    /// <param name="readOnly">True to change nothing.</param>
    /// <param name="created">The directories that were just created: this method makes their names durable.</param>
    /// <param name="logger">Receives the warnings about missing capabilities of the file system, each once.</param>
    /// <param name="options">Other settings; null for the defaults.</param>
    public static PosixDisk Open(string path, bool readOnly, List<string> created, ILogger logger, PosixDiskOptions? options = null)
    {
        options ??= new PosixDiskOptions();
        var calls = options.Calls;
        if (!readOnly)
            FileSizeSignal.Ignore();
        var real = Resolve(path);
        foreach (var directory in created)
        {
            using var parent = OpenPath(System.IO.Path.GetDirectoryName(directory)!);
            SyncDirectory(calls, parent, directory);
        }

        var handle = OpenPath(real);
        try
        {
            var kind = options.Kind ?? FileSystemKind.Of(handle, real);
            if (kind.NetworkName is { } network && !options.AcceptsNetwork)
            {
                throw new DiskException(
                    DiskError.NotSupported, "open", real, $"it is on a file system that other machines share ({network}). Use a local one");
            }
            if (kind.IsDoubtful)
                IoLog.DoubtfulFileSystem(logger, real, kind.Name!);
            if (kind.Overwriting == Overwriting.Elsewhere && !readOnly)
                IoLog.CopiesOnWrite(logger, real, kind.Name!);
            if (kind.Overwriting == Overwriting.ElsewhereUnlessMarked && created.Count > 0)
                calls.TryMarkInPlace(handle);
            return new PosixDisk(real, readOnly, handle, new PosixVolume(real, kind, calls, logger), options.FileMode);
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    public long VolumeBytes => SystemDirectory.VolumeBytes(Path);

    public long AvailableBytes => SystemDirectory.AvailableBytes(Path);

    public IReadOnlyList<DiskEntry> List()
    {
        // Lists the open directory itself, regardless of where its path leads now.
        var self = $"/proc/self/fd/{_directory.DangerousGetHandle()}";
        return SystemDirectory.List(!Platform.IsMac && Directory.Exists(self) ? self : Path);
    }

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        var path = PathOf(name);
        var flags = IsReadOnly ? Platform.ReadOnly : Platform.ReadWrite;
        if (open == DiskOpen.New)
        {
            DiskRules.CheckWritable(IsReadOnly, "create", path);
            CheckLocks("create", path);
            flags |= Platform.Create | Platform.Exclusive;
        }
        if (access == DiskAccess.WriteThrough)
            flags |= Platform.DataSync;
        return ToFile(OpenRegular(name, path, flags, open == DiskOpen.New ? "create" : "open"), path, open == DiskOpen.New, access);
    }

    /// <summary>Creates an unnamed file or, where the file system has none, a named file whose name it removes immediately.</summary>
    public DiskFile OpenTemporary(DiskAccess access)
    {
        DiskRules.CheckWritable(IsReadOnly, "create", Path);
        CheckLocks("create", Path);
        var path = PathOf(TemporaryFile.NameOf(0));
        if (!Platform.IsMac)
        {
            var descriptor = Libc.OpenAt(_directory, ".", Platform.Unnamed | Platform.ReadWrite | Platform.CloseOnExec, _fileMode);
            if (descriptor >= 0)
                return ToFile(new SafeFileHandle(descriptor, ownsHandle: true), path, isNew: true, access);
        }
        return TemporaryFile.Open(this, access);
    }

    public DiskFile OpenUnnamed()
    {
        DiskRules.CheckWritable(IsReadOnly, "create", Path);
        CheckLocks("create", Path);
        var flags = Platform.Unnamed | Platform.ReadWrite | Platform.CloseOnExec | Platform.DataSync;
        var descriptor = Libc.OpenAt(_directory, ".", flags, _fileMode);
        if (descriptor < 0)
            Errno.Throw("create", Path, Marshal.GetLastPInvokeError());
        return ToFile(new SafeFileHandle(descriptor, ownsHandle: true), Path, isNew: true, DiskAccess.WriteThrough);
    }

    public void Link(DiskFile file, string name)
    {
        var path = PathOf(name);
        DiskRules.CheckWritable(IsReadOnly, "name", path);
        CheckLocks("name", path);

        // The other way, by the descriptor alone, needs a privilege.
        var source = $"/proc/self/fd/{((PosixFile)file).Descriptor}";
        if (Libc.LinkAt(Platform.WorkingDirectory, source, _directory, name, Platform.FollowAt) != 0)
            Errno.Throw("name", path, Marshal.GetLastPInvokeError());
    }

    public void Rename(string source, string target)
    {
        var from = PathOf(source);
        var to = PathOf(target);
        DiskRules.CheckWritable(IsReadOnly, "rename", from);
        using (Uninterrupted.Hold(_gate))
        {
            CheckLocks("rename", from);
            if (!TryRenameExclusively(source, target))
            {
                // The file system cannot check and rename in one step. Only the holder of the directory's lock creates such names.
                if (PosixFileInfo.Find(_directory, target, to) is not null)
                    throw new DiskException(DiskError.AlreadyExists, "rename", from, $"there is already a file '{to}'");
                if (Libc.RenameAt(_directory, source, _directory, target) != 0)
                    Errno.Throw("rename", from, Marshal.GetLastPInvokeError());
            }
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
        if (Libc.UnlinkAt(_directory, name, 0) != 0)
            Errno.Throw("delete", path, Marshal.GetLastPInvokeError());
    }

    public void SyncDirectory()
    {
        DiskRules.CheckWritable(IsReadOnly, "sync", Path);
        SyncDirectory(_volume.Calls, _directory, Path);
    }

    public IDisposable Lock(string name, bool shared)
    {
        var path = PathOf(name);
        for (var tries = 0; tries < MaxTries; tries++)
        {
            var handle = OpenRegular(name, path, shared || IsReadOnly ? Platform.ReadOnly : Platform.ReadWrite, "lock");
            var taken = PosixLock.Take(_volume.Calls, Forget, name, path, handle, shared);

            // The file may have been renamed, replaced or deleted between opening and locking it.
            if (LeadsTo(name, path, taken.Identity))
            {
                using (Uninterrupted.Hold(_gate))
                    _locks.Add(taken);
                return taken;
            }
            taken.Dispose();
        }
        throw new DiskException(DiskError.Failed, "lock", path, $"another file took its place {MaxTries} times in a row");
    }

    public void Dispose() => _directory.Dispose();

    /// <summary>Removes a released lock from the locks that the disk checks.</summary>
    private void Forget(PosixLock held)
    {
        using (Uninterrupted.Hold(_gate))
            _locks.Remove(held);
    }

    /// <summary>Takes ownership of the handle, and closes it if it cannot return a file.</summary>
    private PosixFile ToFile(SafeFileHandle handle, string path, bool isNew, DiskAccess access)
    {
        try
        {
            if (_volume.Kind.Overwriting == Overwriting.ElsewhereUnlessMarked && !IsReadOnly)
                _volume.SeeThatItIsMarked(handle, path, isNew);
            var direct = access != DiskAccess.Buffered && _volume.TryMakeUnbuffered(handle);
            return new PosixFile(_volume, handle, path, access, IsReadOnly, direct);
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    /// <summary>
    /// Throws unless the name of each held lock still refers to the locked file. Otherwise, another environment has taken over the directory, and
    /// neither environment knows about the other, so the holder of the lock must not change any names.
    /// </summary>
    private void CheckLocks(string operation, string path)
    {
        using (Uninterrupted.Hold(_gate))
        {
            foreach (var held in _locks)
            {
                var place = PathOf(held.Name);
                if (!LeadsTo(held.Name, place, held.Identity) && !PlantedFault.ChangeForeignDirectory)
                {
                    throw new DiskException(
                        DiskError.Failed, operation, path, $"'{place}' was removed or replaced while it was in use. The engine changes nothing in the directory any more");
                }
            }
        }
    }

    private bool LeadsTo(string name, string path, FileIdentity identity) => PosixFileInfo.Find(_directory, name, path)?.Identity == identity;

    /// <summary>Returns false when the system cannot rename and check for the target in one step.</summary>
    private bool TryRenameExclusively(string source, string target)
    {
        try
        {
            var result = Platform.IsMac
                ? Libc.RenameExtendedMac(_directory, source, _directory, target, Platform.RenameNoReplaceMac)
                : Libc.RenameExtended(_directory, source, _directory, target, Platform.RenameNoReplace);
            if (result == 0)
                return true;
        }
        catch (EntryPointNotFoundException)
        {
            return false;
        }
        var errno = Marshal.GetLastPInvokeError();
        if (errno == Errno.Invalid || Errno.IsUnsupported(errno))
            return false;
        throw Errno.ToException("rename", PathOf(source), errno);
    }

    private SafeFileHandle OpenRegular(string name, string path, int flags, string operation)
    {
        while (true)
        {
            // If a pipe is in the file's place, a plain open would wait for its other end.
            var careful = flags | Platform.CloseOnExec | Platform.NonBlocking | (PlantedFault.FollowLinks ? 0 : Platform.NoFollow);
            var descriptor = Libc.OpenAt(_directory, name, careful, _fileMode);
            if (descriptor >= 0)
            {
                var handle = new SafeFileHandle(descriptor, ownsHandle: true);
                try
                {
                    CheckRegular(handle, path, operation);
                    return handle;
                }
                catch
                {
                    handle.Dispose();
                    throw;
                }
            }
            if (Marshal.GetLastPInvokeError() == Errno.Loop)
            {
                throw new DiskException(
                    DiskError.Failed, operation, path, "it is a symbolic link, which is not followed. Link or mount the whole directory instead", Errno.Loop);
            }
            Errno.ThrowUnlessInterrupted(operation, path);
        }
    }

    private void CheckRegular(SafeFileHandle handle, string path, string operation)
    {
        var info = PosixFileInfo.Of(handle, path);
        if (!info.IsRegular)
            throw new DiskException(DiskError.Failed, operation, path, "it is not a regular file");
        if (info.Mount != 0 && _mount != 0 && info.Mount != _mount)
        {
            throw new DiskException(
                DiskError.Failed, operation, path, "it is mounted from elsewhere. All files of an environment must be on the volume of their directory");
        }
    }

    private static void SyncDirectory(PosixCalls calls, SafeFileHandle directory, string path)
    {
        while (!calls.TrySync(directory, metadata: true, out _))
        {
            // Some file systems cannot sync a directory and make its changes durable in another way.
            if (Marshal.GetLastPInvokeError() == Errno.Invalid)
                return;
            Errno.ThrowUnlessInterrupted("sync directory", path);
        }
    }

    private static SafeFileHandle OpenPath(string path)
    {
        while (true)
        {
            var descriptor = Libc.Open(path, Platform.ReadOnly | Platform.CloseOnExec | Platform.NonBlocking, 0);
            if (descriptor >= 0)
                return new SafeFileHandle(descriptor, ownsHandle: true);
            Errno.ThrowUnlessInterrupted("open", path);
        }
    }

    private static string Resolve(string path)
    {
        const int MaxPath = 4096;
        var buffer = stackalloc byte[MaxPath];
        if (Libc.RealPath(path, buffer) == null)
            Errno.Throw("open", path, Marshal.GetLastPInvokeError());
        var real = Marshal.PtrToStringUTF8((nint)buffer)!;
        if (!Directory.Exists(real))
            throw new DiskException(DiskError.Failed, "open", real, "it is not a directory");
        return real;
    }

    private string PathOf(string name)
    {
        DiskRules.CheckName(name);
        return System.IO.Path.Combine(Path, name);
    }
}

/// <summary>The settings of a disk that have defaults.</summary>
internal sealed record PosixDiskOptions
{
    /// <summary>The permissions of new files.</summary>
    public UnixFileMode FileMode { get; init; } = FilePermissions.OwnerOnly;

    /// <summary>The system calls that the disk's files use.</summary>
    public PosixCalls Calls { get; init; } = PosixCalls.OfSystem;

    /// <summary>True to accept a network file system.</summary>
    public bool AcceptsNetwork { get; init; }

    /// <summary>The kind of file system to assume; null to detect it.</summary>
    public FileSystemKind? Kind { get; init; }
}
