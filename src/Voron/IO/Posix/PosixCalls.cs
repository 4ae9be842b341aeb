using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>
/// The system calls on open files, as <see cref="PosixFile"/> makes them: what one returns, and the error number that it leaves, is
/// the system's. They can be replaced, to see that interrupted and partial ones are gone on with.
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
    /// True when the system has locks of a range that belong to an open description (F_OFD_SETLK). Where it has none, whole files are locked.
    /// </summary>
    public virtual bool LocksDescriptions => !Platform.IsMac;

    /// <summary>F_FULLFSYNC of macOS.</summary>
    public virtual int FullSync(SafeFileHandle handle) => Libc.Control(handle, Platform.FullSync, 0);

    public virtual int Sync(SafeFileHandle handle) => Libc.Sync(handle);

    public virtual int SyncData(SafeFileHandle handle) => Libc.SyncData(handle);

    /// <summary>Syncs a file. False: the error number says why, and nothing is known to be durable.</summary>
    /// <param name="handle">The file.</param>
    /// <param name="metadata">All metadata too, not only what reads need.</param>
    /// <param name="isWeaker">True when the system cannot empty the device's own cache for this file.</param>
    public virtual bool TrySync(SafeFileHandle handle, bool metadata, out bool isWeaker)
    {
        isWeaker = false;
        return Platform.IsMac ? TrySyncOfMac(handle, out isWeaker) : (metadata ? Sync(handle) : SyncData(handle)) == 0;
    }

    /// <summary>
    /// On macOS a plain sync stops at the device's cache. Only where the file system does not know the full one is it made do with: any other
    /// failure of it, such as an error of the device, is a failure.
    /// </summary>
    public bool TrySyncOfMac(SafeFileHandle handle, out bool isWeaker)
    {
        isWeaker = false;
        if (FullSync(handle) == 0)
            return true;
        int errno = Marshal.GetLastPInvokeError();
        if (errno != Errno.Invalid && errno != Errno.NotATerminal && !Errno.IsUnsupported(errno))
            return false;
        isWeaker = true;
        return Sync(handle) == 0;
    }

    /// <summary>Whether a file is overwritten where it is, on a file system that else writes elsewhere.</summary>
    public virtual bool IsMarkedInPlace(SafeFileHandle handle)
    {
        long flags = 0;
        return Libc.DeviceControl(handle, Platform.GetFileFlags, &flags) == 0 && (flags & Platform.NoCopyOnWrite) != 0;
    }

    /// <summary>Has a file that is still empty, or the files that will be made in a directory, overwritten where they are.</summary>
    public virtual bool TryMarkInPlace(SafeFileHandle handle)
    {
        long flags = 0;
        if (Libc.DeviceControl(handle, Platform.GetFileFlags, &flags) != 0)
            return false;
        flags |= Platform.NoCopyOnWrite;
        return Libc.DeviceControl(handle, Platform.SetFileFlags, &flags) == 0;
    }
}
