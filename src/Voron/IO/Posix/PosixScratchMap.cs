using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>A shared map of a temporary file: the kernel can write its pages to the file when memory is short.</summary>
internal sealed unsafe class PosixScratchMap : ScratchMap
{
    private readonly nuint _length;
    private bool _disposed;

    public PosixScratchMap(SafeFileHandle handle, string path, long offset, long length)
    {
        _length = (nuint)length;
        var address = !EngineMemory.Allows(_length) ? -1 : Libc.Map(null, _length, Platform.ProtectReadWrite, Platform.MapShared, handle, offset);
        if (address == -1)
            Errno.Throw("map", path, Marshal.GetLastPInvokeError());
        Address = (byte*)address;
    }

    protected override void Dispose(bool disposing)
    {
        if (_disposed)
            return;
        _disposed = true;
        PosixMemory.Release(Address, _length);
    }
}
