using System.ComponentModel;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>
/// A view of a file. It can be neither extended nor cut where it is, and while it lives the system refuses to cut the file.
/// </summary>
internal sealed unsafe class WindowsMap : FileMap
{
    private const uint PageReadOnly = 0x02;
    private const uint FileMapRead = 0x04;

    private nint _view;

    public WindowsMap(SafeFileHandle handle, string path, long length)
    {
        Length = length;
        if (length == 0)
            return;

        nint mapping = Kernel32.CreateFileMapping(handle, null, PageReadOnly, (uint)(length >> 32), (uint)length, null);
        if (mapping == 0)
            throw Failed(path);
        try
        {
            // The view keeps the mapping alive after its handle is closed.
            Address = (byte*)Kernel32.MapViewOfFile(mapping, FileMapRead, 0, 0, (nuint)length);
            if (Address == null)
                throw Failed(path);
            _view = (nint)Address;
        }
        finally
        {
            Kernel32.CloseHandle(mapping);
        }
    }

    public override bool TryExtend(long length) => length <= Length;

    public override void Shrink(long length)
    {
        DiskRules.CheckLengthInMap(length, Length);
        Length = length;
    }

    protected override void Dispose(bool disposing)
    {
        nint view = Interlocked.Exchange(ref _view, 0);
        if (view != 0)
            Kernel32.UnmapViewOfFile((void*)view);
        Address = null;
        Length = 0;
    }

    private static DiskException Failed(string path)
    {
        int error = Marshal.GetLastPInvokeError();
        return SystemErrors.From(new IOException(new Win32Exception(error).Message, unchecked((int)0x80070000) | error), "map", path);
    }
}
