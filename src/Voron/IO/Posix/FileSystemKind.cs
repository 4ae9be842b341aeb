using System.Runtime.InteropServices;

namespace Voron.IO.Posix;

/// <summary>What kind of file system a directory is on, as far as the engine has to know.</summary>
/// <param name="NetworkName">The name of a network file system, or null.</param>
/// <param name="IsMemory">The files are memory: there is nothing to write through to, whatever open accepts.</param>
/// <param name="LocksWrites">
/// A buffered write waits until an unbuffered one to the same file has returned, and the other way round, and the latter takes
/// out of the page cache what it replaces: so nothing can bring the old bytes back there.
/// </param>
internal readonly record struct FileSystemKind(string? NetworkName, bool IsMemory, bool LocksWrites = false)
{
    private const int DescriptionLength = 512;

    public static unsafe FileSystemKind Of(string path)
    {
        if (Platform.IsMac)
        {
            var drive = new DriveInfo(path);
            return new FileSystemKind(drive.DriveType == DriveType.Network ? drive.DriveFormat : null, false);
        }

        // The type is the first word of the description, on every 64-bit Linux.
        long* description = stackalloc long[DescriptionLength / sizeof(long)];
        if (Libc.FileSystem(path, (byte*)description) != 0)
            Errno.Throw("open", path, Marshal.GetLastPInvokeError());
        return OfLinuxType((uint)*description);
    }

    /// <param name="type">f_type of statfs; some are negative when sign-extended, so only 32 bits of it.</param>
    public static FileSystemKind OfLinuxType(uint type) => type switch
    {
        0x0000_6969 => new("NFS", false),
        0x0000_517B => new("SMB", false),
        0xFE53_4D42 => new("SMB2", false),
        0xFF53_4D42 => new("CIFS", false),
        0x0102_1997 => new("9p", false),
        0x00C3_6400 => new("Ceph", false),
        0x5346_414F or 0x6B41_4653 => new("AFS", false),
        0x7375_7245 => new("Coda", false),
        0x0000_564C => new("NCP", false),
        0x0102_1994 => new(null, true),

        // ext4, which shares its number with its forebears, and XFS.
        0x0000_EF53 or 0x5846_5342 => new(null, false, true),
        _ => default,
    };
}
