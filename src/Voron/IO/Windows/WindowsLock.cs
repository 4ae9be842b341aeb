using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>
/// A lock of a range far beyond the end of a file, so that it does not block access to the file's bytes. It belongs to the handle, and ends
/// with the process.
/// </summary>
internal sealed unsafe class WindowsLock : IDisposable
{
    private const int RangeStartHigh = 1 << 30;
    private const uint FailImmediately = 1;
    private const uint Exclusive = 2;
    private const int LockViolation = 33;
    private const int IoPending = 997;

    private static readonly LockTable<FileIdentity> OfThisProcess = new();

    private readonly Action<WindowsLock> _forget;
    private readonly SafeFileHandle _handle;
    private readonly IDisposable _inProcess;
    private int _disposed;

    private WindowsLock(Action<WindowsLock> forget, string name, SafeFileHandle handle, FileIdentity identity, IDisposable inProcess)
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
    /// <param name="forget">Removes a lock that is being released from the locks that the disk checks.</param>
    /// <param name="name">The name of the file in its directory.</param>
    /// <param name="path">The path of the file, for messages.</param>
    /// <param name="handle">The open file.</param>
    /// <param name="shared">True for a lock that others can share.</param>
    public static WindowsLock Take(Action<WindowsLock> forget, string name, string path, SafeFileHandle handle, bool shared)
    {
        IDisposable? inProcess = null;
        try
        {
            var identity = WindowsHandles.IdentityOf(handle, path);
            inProcess = OfThisProcess.Take(identity, shared, path);
            var range = new WindowsLockRange { OffsetHigh = RangeStartHigh };
            if (Kernel32.LockFile(handle, shared ? FailImmediately : FailImmediately | Exclusive, 0, 1, 0, &range))
                return new WindowsLock(forget, name, handle, identity, inProcess);
            var error = Marshal.GetLastPInvokeError();
            throw error is LockViolation or IoPending
                ? new DiskException(DiskError.Locked, "lock", path, "the lock is held by another process", error)
                : SystemErrors.FromWindows(error, "lock", path);
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
        _handle.Dispose();
        _inProcess.Dispose();
    }
}
