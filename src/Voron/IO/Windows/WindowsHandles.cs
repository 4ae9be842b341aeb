using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Windows;

/// <summary>Opens files without following links, and determines the identity of the file behind a handle.</summary>
internal static unsafe class WindowsHandles
{
    public const uint CreateNew = 1;
    public const uint OpenExisting = 3;
    public const uint NoBuffering = 0x2000_0000;
    public const uint DeleteOnClose = 0x0400_0000;

    private const uint GenericRead = 0x8000_0000;
    private const uint GenericWrite = 0x4000_0000;
    private const uint DeleteAccess = 0x0001_0000;
    private const uint ShareEverything = 7;
    private const uint OpenReparsePoint = 0x0020_0000;
    private const uint ReparsePointAttribute = 0x400;
    private const uint NameSurrogate = 0x2000_0000;
    private const int AttributeTagKind = 9;

    // FILE_ID_INFO: the volume's number, then the file's number in two halves.
    private const int IdentityKind = 18;
    private const int IdentityWords = 3;

    // BY_HANDLE_FILE_INFORMATION, in four-byte words.
    private const int InformationWords = 13;
    private const int VolumeWord = 7;
    private const int IndexHighWord = 11;
    private const int IndexLowWord = 12;

    /// <summary>Opens or creates a file. Refuses names that refer to another file, such as a symbolic link.</summary>
    public static SafeFileHandle Open(string path, uint disposition, bool readOnly, uint flags, string operation)
    {
        var access = readOnly ? GenericRead : GenericRead | GenericWrite;
        if ((flags & DeleteOnClose) != 0)
            access |= DeleteAccess;
        var handle = Kernel32.CreateFile(path, access, ShareEverything, null, disposition, flags | OpenReparsePoint, 0);
        if (handle.IsInvalid)
            throw Failed(handle, operation, path);
        try
        {
            if (!TryGetTag(handle, out var tag))
                return handle;
            if ((tag & NameSurrogate) != 0)
            {
                throw new DiskException(
                    DiskError.Failed, operation, path, "it is a symbolic link, which is not followed. Link or mount the whole directory instead");
            }
        }
        catch
        {
            handle.Dispose();
            throw;
        }

        // Another reparse point, such as a file that the system has deduplicated, is the file itself, stored in another way.
        handle.Dispose();
        handle = Kernel32.CreateFile(path, access, ShareEverything, null, OpenExisting, flags, 0);
        return handle.IsInvalid ? throw Failed(handle, operation, path) : handle;
    }

    public static FileIdentity IdentityOf(SafeFileHandle handle, string path)
    {
        var identity = stackalloc ulong[IdentityWords];
        if (Kernel32.GetFileInformationExtended(handle, IdentityKind, (uint*)identity, IdentityWords * sizeof(ulong)))
            return new FileIdentity(identity[0], identity[1], identity[2]);

        // A file system without 128-bit numbers provides these 64-bit ones.
        var information = stackalloc uint[InformationWords];
        if (!Kernel32.GetFileInformation(handle, information))
            throw SystemErrors.FromWindows(Marshal.GetLastPInvokeError(), "inspect", path);
        return new FileIdentity(information[VolumeWord], ((ulong)information[IndexHighWord] << 32) | information[IndexLowWord]);
    }

    /// <summary>Returns the identity of the file that a path refers to; null when there is none.</summary>
    public static FileIdentity? Find(string path)
    {
        using var handle = Kernel32.CreateFile(path, 0, ShareEverything, null, OpenExisting, OpenReparsePoint, 0);
        if (!handle.IsInvalid)
            return IdentityOf(handle, path);
        var error = Failed(handle, "inspect", path);
        return error.Error == DiskError.NotFound ? null : throw error;
    }

    private static bool TryGetTag(SafeFileHandle handle, out uint tag)
    {
        var information = stackalloc uint[2];
        var isPoint = Kernel32.GetFileInformationExtended(handle, AttributeTagKind, information, 2 * sizeof(uint))
            && (information[0] & ReparsePointAttribute) != 0;
        tag = isPoint ? information[1] : 0;
        return isPoint;
    }

    private static DiskException Failed(SafeFileHandle handle, string operation, string path)
    {
        var error = Marshal.GetLastPInvokeError();
        handle.Dispose();
        return SystemErrors.FromWindows(error, operation, path);
    }
}
