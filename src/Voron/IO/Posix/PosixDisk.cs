using System.Globalization;
using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>A directory of Linux or macOS.</summary>
internal sealed unsafe class PosixDisk : IDisk
{
    /// <summary>rw-r--r--, before the process's mask.</summary>
    private const int FileMode = 0x1A4;

    private readonly ILogger _logger;
    private readonly SafeFileHandle _directory;
    private readonly bool _refusesDirect;
    private int _buffered;
    private int _warned;

    private PosixDisk(string path, bool readOnly, SafeFileHandle directory, FileSystemKind kind, ILogger logger)
    {
        Path = path;
        IsReadOnly = readOnly;
        _directory = directory;
        _refusesDirect = kind.IsMemory;
        _buffered = kind.IsMemory ? 1 : 0;
        MapsSeeUnbufferedWrites = kind.LocksWrites;
        _logger = logger;
    }

    public string Path { get; }

    public int Alignment => DiskRules.Alignment;

    public bool IsReadOnly { get; }

    public bool MapsSeeUnbufferedWrites { get; }

    /// <summary>How its files call the system.</summary>
    public PosixCalls Calls { get; init; } = PosixCalls.OfSystem;

    public bool IsUnbuffered => Volatile.Read(ref _buffered) == 0;

    /// <param name="path">A full path.</param>
    /// <param name="readOnly">Nothing is to be changed.</param>
    /// <param name="created">The directories that were just made: their names are made durable here.</param>
    /// <param name="logger">Gets the one warning about buffered write-through.</param>
    /// <param name="calls">How its files call the system; null for as it is.</param>
    public static PosixDisk Open(string path, bool readOnly, List<string> created, ILogger logger, PosixCalls? calls = null)
    {
        string real = Resolve(path);
        var kind = FileSystemKind.Of(real);
        if (kind.NetworkName is { } network)
        {
            throw new DiskException(
                DiskError.NotSupported, "open", real, $"it is on a network file system ({network}); use a local one");
        }

        foreach (string directory in created)
        {
            using var parent = OpenHandle(System.IO.Path.GetDirectoryName(directory)!, Platform.ReadOnly, "open");
            SyncDirectory(parent, directory);
        }
        return new PosixDisk(real, readOnly, OpenHandle(real, Platform.ReadOnly, "open"), kind, logger) { Calls = calls ?? PosixCalls.OfSystem };
    }

    public IReadOnlyList<DiskEntry> List() => SystemErrors.List(Path);

    public DiskFile Open(string name, DiskOpen open, DiskAccess access)
    {
        string path = PathOf(name);
        if (open == DiskOpen.New)
            DiskRules.CheckWritable(IsReadOnly, "create", path);

        int flags = IsReadOnly ? Platform.ReadOnly : Platform.ReadWrite;
        if (open == DiskOpen.New)
            flags |= Platform.Create | Platform.Exclusive;
        if (access == DiskAccess.WriteThrough)
            flags |= Platform.DataSync;

        var handle = OpenHandle(path, flags, open == DiskOpen.New ? "create" : "open");
        try
        {
            bool direct = access != DiskAccess.Buffered && TryMakeUnbuffered(handle);
            return new PosixFile(this, handle, path, access, direct);
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    public void Rename(string source, string target)
    {
        string from = PathOf(source);
        DiskRules.CheckWritable(IsReadOnly, "rename", from);
        if (Libc.Rename(from, PathOf(target)) != 0)
            Errno.Throw("rename", from, Marshal.GetLastPInvokeError());
    }

    public void Delete(string name)
    {
        string path = PathOf(name);
        DiskRules.CheckWritable(IsReadOnly, "delete", path);
        if (Libc.Unlink(path) != 0)
            Errno.Throw("delete", path, Marshal.GetLastPInvokeError());
    }

    public void SyncDirectory()
    {
        DiskRules.CheckWritable(IsReadOnly, "sync", Path);
        SyncDirectory(_directory, Path);
    }

    public IDisposable Lock(string name, bool shared)
    {
        string path = PathOf(name);
        int flags = IsReadOnly ? Platform.ReadOnly : Platform.ReadWrite | Platform.Create;
        SafeFileHandle handle;
        try
        {
            handle = OpenHandle(path, flags, "lock");
        }
        catch (DiskException e) when (IsReadOnly && e.Error == DiskError.NotFound)
        {
            return new PosixLock(null, false);
        }

        try
        {
            TakeLock(handle, path, shared);
            bool owned = !shared && !IsReadOnly;
            if (owned)
                PosixLock.WriteOwner(handle, path);
            return new PosixLock(handle, owned);
        }
        catch
        {
            handle.Dispose();
            throw;
        }
    }

    public void Dispose() => _directory.Dispose();

    /// <summary>Unbuffered transfers were refused: says so once for the whole disk.</summary>
    internal void NoteNotUnbuffered(string reason)
    {
        Volatile.Write(ref _buffered, 1);
        if (Interlocked.Exchange(ref _warned, 1) == 0)
            IoLog.NotUnbuffered(_logger, Path, reason);
    }

    internal static bool TrySync(SafeFileHandle handle, bool metadata)
    {
        if (Platform.IsMac)
            return Libc.Control(handle, Platform.FullSync, 0) == 0 || Libc.Sync(handle) == 0;
        return (metadata ? Libc.Sync(handle) : Libc.SyncData(handle)) == 0;
    }

    internal static bool TrySetDirect(SafeFileHandle handle, bool on)
    {
        int flags = Libc.Control(handle, Platform.GetFlags, 0);
        return flags >= 0
            && Libc.Control(handle, Platform.SetFlags, on ? flags | Platform.Direct : flags & ~Platform.Direct) >= 0;
    }

    /// <summary>
    /// O_DIRECT is set on the open descriptor rather than in open, because an open that refuses it may have created the file
    /// already.
    /// </summary>
    private bool TryMakeUnbuffered(SafeFileHandle handle)
    {
        if (Platform.IsMac)
        {
            // The cache is passed by as far as it can be; transfers need no alignment there.
            if (Libc.Control(handle, Platform.NoCache, 1) < 0)
                NoteNotUnbuffered(Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError()));
            return false;
        }

        if (_refusesDirect)
        {
            NoteNotUnbuffered("a file system in memory");
            return false;
        }

        // Once one file has been refused, the others are not tried again: all are written alike.
        if (!IsUnbuffered)
            return false;
        if (TrySetDirect(handle, true))
            return true;
        NoteNotUnbuffered(Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError()));
        return false;
    }

    private static void TakeLock(SafeFileHandle handle, string path, bool shared)
    {
        int operation = (shared ? Platform.LockShared : Platform.LockExclusive) | Platform.LockNonBlocking;
        while (Libc.Lock(handle, operation) != 0)
        {
            int errno = Marshal.GetLastPInvokeError();
            if (errno == Errno.WouldBlock)
            {
                string owner = PosixLock.ReadOwner(handle) is { } process
                    ? string.Create(CultureInfo.InvariantCulture, $"; the last to own it was process {process}")
                    : "";
                throw new DiskException(DiskError.Locked, "lock", path, "somebody else holds the lock" + owner, errno);
            }
            if (errno != Errno.Interrupted)
                Errno.Throw("lock", path, errno);
        }
    }

    private static void SyncDirectory(SafeFileHandle directory, string path)
    {
        while (!TrySync(directory, metadata: true))
        {
            // Some file systems have no sync of a directory and make its changes durable in another way.
            if (Marshal.GetLastPInvokeError() == Errno.Invalid)
                return;
            Errno.ThrowUnlessInterrupted("sync directory", path);
        }
    }

    private static SafeFileHandle OpenHandle(string path, int flags, string operation)
    {
        while (true)
        {
            int descriptor = Libc.Open(path, flags | Platform.CloseOnExec, FileMode);
            if (descriptor >= 0)
                return new SafeFileHandle(descriptor, ownsHandle: true);
            Errno.ThrowUnlessInterrupted(operation, path);
        }
    }

    private static string Resolve(string path)
    {
        const int MaxPath = 4096;
        byte* buffer = stackalloc byte[MaxPath];
        if (Libc.RealPath(path, buffer) == null)
            Errno.Throw("open", path, Marshal.GetLastPInvokeError());
        string real = Marshal.PtrToStringUTF8((nint)buffer)!;
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
