using System.Globalization;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>
/// A lock on an open file description: no other description, even in this process, can hold it at the same time, and it
/// ends with the process.
/// </summary>
/// <remarks>
/// On Linux, it locks a range far beyond the end of the file, so that it affects neither the file's bytes nor the locks that other programs and
/// the base library take on a whole file to read or copy it. The length of the range is the owner's process id, because the system reports the
/// conflicting range but not its owner. On macOS, and on Linux before 3.15, it locks the whole file with flock, and this lock also belongs to the
/// open file description. POSIX process locks (F_SETLK) are never taken: such a lock ends when any descriptor of the file is closed, and the
/// engine closes some while it holds its locks.
/// </remarks>
internal sealed unsafe class PosixLock : IDisposable
{
    /// <summary>The first byte of the range, which all locks share.</summary>
    private const long RangeStart = 1L << 62;

    private const short ReadLock = 0;
    private const short WriteLock = 1;
    private const short NoLock = 2;

    private static readonly LockTable<FileIdentity> OfThisProcess = new();

    private readonly Action<PosixLock> _forget;
    private readonly SafeFileHandle _handle;
    private readonly IDisposable _inProcess;
    private int _disposed;

    private PosixLock(Action<PosixLock> forget, string name, SafeFileHandle handle, FileIdentity identity, IDisposable inProcess)
    {
        _forget = forget;
        Name = name;
        _handle = handle;
        Identity = identity;
        _inProcess = inProcess;
    }

    /// <summary>The current name of the file.</summary>
    public string Name { get; set; }

    public FileIdentity Identity { get; }

    /// <summary>Locks the file of an open handle. Takes ownership of the handle, whether or not it obtains the lock.</summary>
    /// <param name="calls">The system calls of the disk.</param>
    /// <param name="forget">Removes a lock that is being released from the locks that the disk checks.</param>
    /// <param name="name">The name of the file in its directory.</param>
    /// <param name="path">The path of the file, for messages.</param>
    /// <param name="handle">The open file.</param>
    /// <param name="shared">True for a lock that others can share.</param>
    public static PosixLock Take(
        PosixCalls calls, Action<PosixLock> forget, string name, string path, SafeFileHandle handle, bool shared)
    {
        IDisposable? inProcess = null;
        try
        {
            var identity = PosixFileInfo.Of(handle, path).Identity;
            inProcess = OfThisProcess.Take(identity, shared, path);
            if (!calls.LocksDescriptions || !TryTakeRange(handle, path, shared))
                TakeWhole(handle, path, shared);
            return new PosixLock(forget, name, handle, identity, inProcess);
        }
        catch
        {
            handle.Dispose();
            inProcess?.Dispose();
            throw;
        }
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _disposed, 1) != 0)
            return;
        _forget(this);

        // A child process that is just starting may have a copy of the descriptor, which would keep the lock for a moment.
        if (!Platform.IsMac)
        {
            var range = Range(NoLock, 0);
            Libc.Control(_handle, Platform.SetDescriptionLock, &range);
        }
        Libc.Lock(_handle, Platform.Unlock);
        _handle.Dispose();
        _inProcess.Dispose();
    }

    /// <summary>Returns false where the system does not support these locks.</summary>
    private static bool TryTakeRange(SafeFileHandle handle, string path, bool shared)
    {
        var range = Range(shared ? ReadLock : WriteLock, Environment.ProcessId);
        while (Libc.Control(handle, Platform.SetDescriptionLock, &range) != 0)
        {
            var errno = Marshal.GetLastPInvokeError();
            if (errno == Errno.Invalid)
                return false;
            if (errno == Errno.WouldBlock || errno == Errno.AccessDenied)
                throw Held(path, OwnerOf(handle, shared), errno);
            if (errno != Errno.Interrupted)
                Errno.Throw("lock", path, errno);
        }
        return true;
    }

    private static void TakeWhole(SafeFileHandle handle, string path, bool shared)
    {
        var operation = (shared ? Platform.LockShared : Platform.LockExclusive) | Platform.LockNonBlocking;
        while (Libc.Lock(handle, operation) != 0)
        {
            var errno = Marshal.GetLastPInvokeError();
            if (errno == Errno.WouldBlock)
                throw Held(path, 0, errno);
            if (errno != Errno.Interrupted)
                Errno.Throw("lock", path, errno);
        }
    }

    /// <summary>Returns the process that holds the conflicting lock; 0 if that lock has been released meanwhile or its owner is not known.</summary>
    private static long OwnerOf(SafeFileHandle handle, bool shared)
    {
        var range = Range(shared ? ReadLock : WriteLock, 1);
        var isKnown = Libc.Control(handle, Platform.GetDescriptionLock, &range) == 0 && range.Kind != NoLock && range.Start == RangeStart;
        return isKnown ? range.Length : 0;
    }

    private static DiskException Held(string path, long owner, int errno)
    {
        var holder = owner > 0 ? string.Create(CultureInfo.InvariantCulture, $"process {owner}") : "another process";
        return new DiskException(DiskError.Locked, "lock", path, "the lock is held by " + holder, errno);
    }

    private static LockRange Range(short kind, long length) => new() { Kind = kind, Start = RangeStart, Length = length };

    /// <summary>struct flock of 64-bit Linux. Offsets count from the beginning of the file.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 32)]
    private struct LockRange
    {
        [FieldOffset(0)]
        public short Kind;

        [FieldOffset(8)]
        public long Start;

        [FieldOffset(16)]
        public long Length;
    }
}
