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

    public virtual bool TrySync(SafeFileHandle handle, bool metadata) => PosixDisk.TrySync(handle, metadata);
}
