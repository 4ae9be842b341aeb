using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>
/// A lock of a range far behind the end of a file, so that it keeps nobody from the file's bytes. It belongs to the handle, and ends with
/// the process.
/// </summary>
internal sealed unsafe class WindowsLock : IDisposable
{
    private const int RangeStartHigh = 1 << 30;
    private const uint FailImmediately = 1;
    private const uint Exclusive = 2;
    private const int LockViolation = 33;
    private const int IoPending = 997;

    private static readonly LockTable<FileIdentity> OfThisProcess = new();

    private readonly WindowsDisk _disk;
    private readonly SafeFileHandle _handle;
    private readonly IDisposable _inProcess;
    private int _disposed;

    private WindowsLock(WindowsDisk disk, string name, SafeFileHandle handle, FileIdentity identity, IDisposable inProcess)
    {
        _disk = disk;
        Name = name;
        _handle = handle;
        Identity = identity;
        _inProcess = inProcess;
    }

    /// <summary>What the file is called now.</summary>
    public string Name { get; set; }

    public FileIdentity Identity { get; }

    /// <summary>Locks the file behind an open handle, which the lock owns from here on, whether or not it can be had.</summary>
    public static WindowsLock Take(WindowsDisk disk, string name, string path, SafeFileHandle handle, bool shared)
    {
        IDisposable? inProcess = null;
        try
        {
            var identity = WindowsHandles.IdentityOf(handle, path);
            inProcess = OfThisProcess.Take(identity, shared, path);
            var range = new LockRange { OffsetHigh = RangeStartHigh };
            if (Kernel32.LockFile(handle, shared ? FailImmediately : FailImmediately | Exclusive, 0, 1, 0, &range))
                return new WindowsLock(disk, name, handle, identity, inProcess);
            int error = Marshal.GetLastPInvokeError();
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
        _disk.Forget(this);
        _handle.Dispose();
        _inProcess.Dispose();
    }

    /// <summary>OVERLAPPED: where the range begins.</summary>
    [StructLayout(LayoutKind.Explicit, Size = 32)]
    internal struct LockRange
    {
        [FieldOffset(16)]
        public uint OffsetLow;

        [FieldOffset(20)]
        public uint OffsetHigh;
    }
}
