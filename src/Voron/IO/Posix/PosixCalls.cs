using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>
/// The system calls on open files, as <see cref="PosixFile"/> makes them: the result of each call and the error number that it leaves come
/// from the system. A test can replace them to check that interrupted and partial calls are continued.
/// </summary>
internal unsafe class PosixCalls
{
    public static readonly PosixCalls OfSystem = new();

    public virtual nint Read(SafeFileHandle handle, byte* buffer, nuint length, long offset) => Libc.Read(handle, buffer, length, offset);

    public virtual nint Write(SafeFileHandle handle, byte* buffer, nuint length, long offset) => Libc.Write(handle, buffer, length, offset);

    public virtual nint WriteVectored(SafeFileHandle handle, IoBlock* blocks, int count, long offset) =>
        Libc.WriteVectored(handle, blocks, count, offset);

    public virtual int Truncate(SafeFileHandle handle, long length) => Libc.Truncate(handle, length);

    public virtual int Allocate(SafeFileHandle handle, int mode, long offset, long length) => Libc.Allocate(handle, mode, offset, length);

    /// <summary>
    /// True when the system supports range locks that belong to an open file description (F_OFD_SETLK). Where it does not, whole files are locked.
    /// </summary>
    public virtual bool LocksDescriptions => !Platform.IsMac;

    /// <summary>F_FULLFSYNC of macOS.</summary>
    public virtual int FullSync(SafeFileHandle handle) => Libc.Control(handle, Platform.FullSync, 0);

    public virtual int Sync(SafeFileHandle handle) => Libc.Sync(handle);

    public virtual int SyncData(SafeFileHandle handle) => Libc.SyncData(handle);

    /// <summary>Waits for any write-back of the range already under way, starts another, and waits for it. Linux.</summary>
    public virtual int WriteBack(SafeFileHandle handle, long offset, long length) =>
        Libc.SyncRange(handle, offset, length, Platform.WaitBefore | Platform.StartWriteBack | Platform.WaitAfter);

    /// <summary>Syncs a file. Returns false on failure: the error number gives the reason, and nothing is known to be durable.</summary>
    /// <param name="handle">The file.</param>
    /// <param name="metadata">True to sync all metadata, not only the part that reads need.</param>
    /// <param name="isWeaker">True when the system cannot flush the device's own cache for this file.</param>
    public virtual bool TrySync(SafeFileHandle handle, bool metadata, out bool isWeaker)
    {
        isWeaker = false;
        return Platform.IsMac ? TrySyncOfMac(handle, out isWeaker) : (metadata ? Sync(handle) : SyncData(handle)) == 0;
    }

    /// <summary>
    /// Makes a full sync, because a plain sync on macOS stops at the device's cache. Falls back to the plain sync only where the file system does
    /// not support the full one: any other failure of the full sync, such as a device error, is a failure.
    /// </summary>
    public bool TrySyncOfMac(SafeFileHandle handle, out bool isWeaker)
    {
        isWeaker = false;
        if (FullSync(handle) == 0)
            return true;
        var errno = Marshal.GetLastPInvokeError();
        if (errno != Errno.Invalid && errno != Errno.NotATerminal && !Errno.IsUnsupported(errno))
            return false;
        isWeaker = true;
        return Sync(handle) == 0;
    }

    /// <summary>Returns whether a file is overwritten in place, on a file system that otherwise writes elsewhere.</summary>
    public virtual bool IsMarkedInPlace(SafeFileHandle handle)
    {
        long flags = 0;
        return Libc.DeviceControl(handle, Platform.GetFileFlags, &flags) == 0 && (flags & Platform.NoCopyOnWrite) != 0;
    }

    /// <summary>Marks a file that is still empty, or a directory for its future files, to be overwritten in place.</summary>
    public virtual bool TryMarkInPlace(SafeFileHandle handle)
    {
        long flags = 0;
        if (Libc.DeviceControl(handle, Platform.GetFileFlags, &flags) != 0)
            return false;
        flags |= Platform.NoCopyOnWrite;
        return Libc.DeviceControl(handle, Platform.SetFileFlags, &flags) == 0;
    }
}
