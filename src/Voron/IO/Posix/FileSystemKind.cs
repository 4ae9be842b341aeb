using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>How a file system deals with an overwritten block.</summary>
internal enum Overwriting
{
    /// <summary>It writes where the block is: a block that a file has can be overwritten on a full disk.</summary>
    InPlace,

    /// <summary>It writes elsewhere, unless a file was marked before its first byte was written (btrfs).</summary>
    ElsewhereUnlessMarked,

    /// <summary>It always writes elsewhere: each overwrite needs free space, and preallocation promises none.</summary>
    Elsewhere,
}

/// <summary>What kind of file system a directory is on, as far as the engine has to know.</summary>
/// <param name="NetworkName">The name of a file system that other machines write to as well, or null. It is refused.</param>
/// <param name="IsMemory">The files are memory: there is nothing to write through to, whatever open accepts.</param>
/// <param name="LocksWrites">
/// A buffered write waits until an unbuffered one to the same file has returned, and the other way round, and the latter takes
/// out of the page cache what it replaces: so nothing can bring the old bytes back there.
/// </param>
internal readonly record struct FileSystemKind(string? NetworkName, bool IsMemory, bool LocksWrites = false)
{
    private const int DescriptionLength = 512;

    /// <summary>How blocks are overwritten.</summary>
    public Overwriting Overwriting { get; init; }

    /// <summary>Its name, where there is something to warn of.</summary>
    public string? Name { get; init; }

    /// <summary>What it promises is up to a program or to other machines. It is used, with a warning.</summary>
    public bool IsDoubtful { get; init; }

    public static unsafe FileSystemKind Of(SafeFileHandle directory, string path)
    {
        if (Platform.IsMac)
        {
            var drive = new DriveInfo(path);
            return new FileSystemKind(drive.DriveType == DriveType.Network ? drive.DriveFormat : null, false)
            {
                Name = drive.DriveFormat,
                IsDoubtful = drive.DriveFormat.Contains("fuse", StringComparison.OrdinalIgnoreCase),
            };
        }

        // The type is the first word of the description, on every 64-bit Linux.
        long* description = stackalloc long[DescriptionLength / sizeof(long)];
        if (Libc.FileSystem(directory, (byte*)description) != 0)
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

        // Cluster file systems. Locks and maps reach the other machines with some settings only, which cannot be seen from here.
        0x0BD0_0BD0 => new("Lustre", false),
        0x4750_4653 => new("GPFS", false),
        0x1983_0326 => new("BeeGFS", false),
        0x2003_0528 => new("OrangeFS", false),
        0xAAD7_AAEA => new("PanFS", false),

        // Folders of the machine that a virtual one runs on.
        0x786F_4256 => new("vboxsf", false),
        0xBACB_ACBC => new("vmhgfs", false),

        0x0102_1994 => new(null, true),
        0x6573_5546 => new(null, false) { Name = "FUSE", IsDoubtful = true },
        0x7461_636F => new(null, false) { Name = "OCFS2", IsDoubtful = true },
        0x0116_1970 => new(null, false) { Name = "GFS2", IsDoubtful = true },

        0x9123_683E => new(null, false) { Name = "btrfs", Overwriting = Overwriting.ElsewhereUnlessMarked },
        0x2FC1_2FC1 => new(null, false) { Name = "ZFS", Overwriting = Overwriting.Elsewhere },
        0xCA45_1A4E => new(null, false) { Name = "bcachefs", Overwriting = Overwriting.Elsewhere },
        0x0000_3434 => new(null, false) { Name = "NILFS2", Overwriting = Overwriting.Elsewhere },

        // ext4, which shares its number with its forebears, and XFS.
        0x0000_EF53 or 0x5846_5342 => new(null, false, true),
        _ => default,
    };
}
