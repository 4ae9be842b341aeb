using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>The system's information about a file: its identity and its kind.</summary>
/// <param name="Identity">The device and inode.</param>
/// <param name="Mode">The kind and permissions, as in st_mode.</param>
/// <param name="Mount">The mount that the file was found on; 0 where the system does not report it.</param>
internal readonly unsafe record struct PosixFileInfo(FileIdentity Identity, uint Mode, ulong Mount)
{
    private const uint KindMask = 0xF000;
    private const uint Regular = 0x8000;

    // Linux: struct statx, which is the same on every processor.
    private const int StatxBytes = 256;
    private const int StatxMask = 0;
    private const int StatxMode = 28;
    private const int StatxInode = 32;
    private const int StatxDevice = 136;
    private const int StatxMount = 144;
    private const uint WantBasics = 0x7FF;
    private const uint WantMount = 0x1000;

    // macOS: struct stat with 64-bit inodes.
    private const int StatMode = 4;
    private const int StatInode = 8;

    public bool IsRegular => (Mode & KindMask) == Regular;

    public static PosixFileInfo Of(SafeFileHandle handle, string path) =>
        TryGet(handle, null, out var info) ? info : throw Errno.ToException("inspect", path, Marshal.GetLastPInvokeError());

    /// <summary>Returns the file that a name in a directory refers to, without following a link; null when there is no such file.</summary>
    public static PosixFileInfo? Find(SafeFileHandle directory, string name, string path)
    {
        if (TryGet(directory, name, out var info))
            return info;
        var errno = Marshal.GetLastPInvokeError();
        return errno == Errno.NoEntry ? null : throw Errno.ToException("inspect", path, errno);
    }

    private static bool TryGet(SafeFileHandle handle, string? name, out PosixFileInfo info)
    {
        var bytes = stackalloc byte[StatxBytes];
        new Span<byte>(bytes, StatxBytes).Clear();
        info = default;
        if (Platform.IsMac)
        {
            var result = name is null ? Libc.Inspect(handle, bytes) : Libc.InspectAt(handle, name, bytes, Platform.NoFollowAtMac);
            if (result != 0)
                return false;
            info = new(new(*(uint*)bytes, *(ulong*)(bytes + StatInode)), *(ushort*)(bytes + StatMode), 0);
            return true;
        }

        var flags = name is null ? Platform.EmptyPath : Platform.NoFollowAt;
        if (Libc.InspectExtended(handle, name ?? "", flags, WantBasics | WantMount, bytes) != 0)
            return false;
        var device = ((ulong)*(uint*)(bytes + StatxDevice) << 32) | *(uint*)(bytes + StatxDevice + sizeof(uint));
        var mount = (*(uint*)(bytes + StatxMask) & WantMount) != 0 ? *(ulong*)(bytes + StatxMount) : 0;
        info = new(new(device, *(ulong*)(bytes + StatxInode)), *(ushort*)(bytes + StatxMode), mount);
        return true;
    }
}
