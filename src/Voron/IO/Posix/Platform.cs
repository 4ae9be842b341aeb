using System.Runtime.InteropServices;

namespace Voron.IO.Posix;

/// <summary>
/// The numeric values of the POSIX interface. Values that are the same everywhere are constants; the others depend on the
/// system or the processor.
/// </summary>
internal static class Platform
{
    public const int ReadOnly = 0;
    public const int ReadWrite = 2;

    public const int DontNeed = 4;

    public const int ProtectNone = 0;
    public const int ProtectRead = 1;
    public const int ProtectReadWrite = 3;

    public const int MapShared = 0x01;

    /// <summary>MADV_RANDOM and MADV_WILLNEED, and MADV_HUGEPAGE of Linux.</summary>
    public const int AdviseRandom = 1;
    public const int AdviseFetch = 3;
    public const int AdviseHugePage = 14;

    public const int MapPrivate = 0x02;
    public const int MapFixed = 0x10;

    public const int LockShared = 1;
    public const int LockExclusive = 2;
    public const int LockNonBlocking = 4;
    public const int Unlock = 8;

    public const int SeekEnd = 2;
    public const int GetFlags = 3;
    public const int SetFlags = 4;

    /// <summary>fallocate: FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE. Linux only.</summary>
    public const int PunchHole = 0x01 | 0x02;

    /// <summary>renameat2 RENAME_NOREPLACE of Linux, renameatx_np RENAME_EXCL of macOS.</summary>
    public const uint RenameNoReplace = 1;
    public const uint RenameNoReplaceMac = 4;

    /// <summary>AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH of Linux, and AT_SYMLINK_NOFOLLOW of macOS.</summary>
    public const int NoFollowAt = 0x100;
    public const int EmptyPath = 0x1000;
    public const int NoFollowAtMac = 0x20;

    /// <summary>AT_FDCWD, which an absolute path ignores, and AT_SYMLINK_FOLLOW of Linux.</summary>
    public const int WorkingDirectory = -100;
    public const int FollowAt = 0x400;

    /// <summary>F_OFD_SETLK and F_OFD_GETLK of Linux: locks of an open file description, not of the process.</summary>
    public const int SetDescriptionLock = 37;
    public const int GetDescriptionLock = 36;

    /// <summary>FS_NOCOW_FL of Linux: a file is overwritten in place.</summary>
    public const long NoCopyOnWrite = 0x0080_0000;

    /// <summary>The flags of sync_file_range. Linux only.</summary>
    public const uint WaitBefore = 1;
    public const uint StartWriteBack = 2;
    public const uint WaitAfter = 4;

    /// <summary>fcntl F_NOCACHE and F_FULLFSYNC. macOS only.</summary>
    public const int NoCache = 48;
    public const int FullSync = 51;

    public static readonly bool IsMac = OperatingSystem.IsMacOS();

    public static readonly int Create = IsMac ? 0x200 : 0x40;
    public static readonly int Exclusive = IsMac ? 0x800 : 0x80;
    public static readonly int CloseOnExec = IsMac ? 0x1000000 : 0x80000;

    /// <summary>O_NOFOLLOW.</summary>
    public static readonly int NoFollow = IsMac ? 0x100 : RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.Arm or Architecture.Arm64 or Architecture.Ppc64le => 0x8000,
        _ => 0x20000,
    };

    /// <summary>O_NONBLOCK, with which opening a pipe does not wait for its other end.</summary>
    public static readonly int NonBlocking = IsMac ? 0x4 : 0x800;

    /// <summary>O_TMPFILE: a file without a name. Linux only.</summary>
    public static readonly int Unnamed = RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.Arm or Architecture.Arm64 or Architecture.Ppc64le => 0x400000 | 0x4000,
        _ => 0x400000 | 0x10000,
    };

    /// <summary>FS_IOC_GETFLAGS and FS_IOC_SETFLAGS of Linux.</summary>
    public static readonly nuint GetFileFlags = RuntimeInformation.ProcessArchitecture == Architecture.Ppc64le ? 0x4008_6601u : 0x8008_6601u;
    public static readonly nuint SetFileFlags = RuntimeInformation.ProcessArchitecture == Architecture.Ppc64le ? 0x8008_6602u : 0x4008_6602u;

    public static readonly bool IsArm = RuntimeInformation.ProcessArchitecture == Architecture.Arm64;

    /// <summary>O_DSYNC. On macOS it does not reach the medium: a full sync after the write does.</summary>
    public static readonly int DataSync = IsMac ? 0 : 0x1000;

    /// <summary>O_DIRECT, which macOS does not have.</summary>
    public static readonly int Direct = IsMac ? 0 : RuntimeInformation.ProcessArchitecture switch
    {
        Architecture.Arm or Architecture.Arm64 => 0x10000,
        Architecture.Ppc64le => 0x20000,
        _ => 0x4000,
    };

    public static readonly int MapAnonymous = IsMac ? 0x1000 : 0x20;
    public static readonly int MapNoReserve = IsMac ? 0x40 : 0x4000;

    /// <summary>True on Apple's arm64, where variadic arguments are passed on the stack.</summary>
    public static readonly bool VariadicOnStack = IsMac && RuntimeInformation.ProcessArchitecture == Architecture.Arm64;
}
