using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.IO.Posix;

/// <summary>The kind of file system that a directory is on, as far as the engine needs to know.</summary>
/// <param name="NetworkName">The name of a file system that other machines write to as well, or null. Such a file system is refused.</param>
/// <param name="IsMemory">True if the files are in memory: there is no device to write through to, even if open accepts the flags.</param>
/// <param name="LocksWrites">
/// True if a buffered write waits until an unbuffered write to the same file has returned, and vice versa, and the unbuffered write removes the
/// bytes that it replaces from the page cache: the old bytes therefore cannot return there.
/// </param>
internal readonly record struct FileSystemKind(string? NetworkName, bool IsMemory, bool LocksWrites = false)
{
    private const int DescriptionLength = 512;

    /// <summary>
    /// True if sync_file_range writes the pages of a file back. On other file systems it may succeed without doing anything, as on ZFS and overlays.
    /// </summary>
    public bool WritesBack { get; init; }

    /// <summary>
    /// True if what was synced of a file without a name is found wherever a name is that it got later, once the directory has been synced. Elsewhere,
    /// as on btrfs, a sync of a file without a name may write nothing that leads to its bytes.
    /// </summary>
    public bool NamesLate { get; init; }

    /// <summary>How blocks are overwritten.</summary>
    public Overwriting Overwriting { get; init; }

    /// <summary>The name of the file system, where there is a reason to warn.</summary>
    public string? Name { get; init; }

    /// <summary>True if its guarantees depend on a program or on other machines. It is used with a warning.</summary>
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
        var description = stackalloc long[DescriptionLength / sizeof(long)];
        if (Libc.FileSystem(directory, (byte*)description) != 0)
            Errno.Throw("open", path, Marshal.GetLastPInvokeError());
        return OfLinuxType((uint)*description);
    }

    /// <param name="type">The f_type of statfs: only its low 32 bits, because some types are negative when sign-extended.</param>
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

        // Cluster file systems. Locks and maps reach the other machines only with some settings, which cannot be detected here.
        0x0BD0_0BD0 => new("Lustre", false),
        0x4750_4653 => new("GPFS", false),
        0x1983_0326 => new("BeeGFS", false),
        0x2003_0528 => new("OrangeFS", false),
        0xAAD7_AAEA => new("PanFS", false),

        // Shared folders of the host of a virtual machine.
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

        // ext4, which shares its number with its predecessors, and XFS.
        0x0000_EF53 or 0x5846_5342 => new(null, false, true) { WritesBack = true, NamesLate = true },
        _ => default,
    };
}

/// <summary>How a file system handles an overwritten block.</summary>
internal enum Overwriting
{
    /// <summary>It overwrites the block in place: a file's existing blocks can be overwritten on a full disk.</summary>
    InPlace,

    /// <summary>It writes elsewhere unless the file was marked before its first byte was written (btrfs).</summary>
    ElsewhereUnlessMarked,

    /// <summary>It always writes elsewhere: each overwrite needs free space, and preallocation does not guarantee any.</summary>
    Elsewhere,
}
