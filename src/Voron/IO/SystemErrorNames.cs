using System.Globalization;

namespace Voron.IO;

/// <summary>
/// The names of the system's error numbers, by which they are found in its documentation: <c>ENOSPC (28)</c>, <c>ERROR_DISK_FULL (112)</c>. A
/// number that is missing here is shown alone.
/// </summary>
internal static class SystemErrorNames
{
    private const int FacilityWin32 = unchecked((int)0x80070000);
    private const int FacilityMask = unchecked((int)0xFFFF0000);
    private const int CodeMask = 0xFFFF;

    /// <summary>Returns the name and the number of an error, for a message.</summary>
    /// <param name="error">
    /// An error number of the system, or the HRESULT of an exception, which contains a Windows error number or is one of the runtime's own. On
    /// POSIX systems, the base library also uses the plain error number as an HRESULT.
    /// </param>
    public static string Describe(int error)
    {
        if (error >= 0)
            return WithNumber(OperatingSystem.IsWindows() ? Windows(error) : Posix(error, OperatingSystem.IsMacOS()), error);
        if ((error & FacilityMask) == FacilityWin32)
            return WithNumber(Windows(error & CodeMask), error & CodeMask);
        var number = string.Create(CultureInfo.InvariantCulture, $"0x{error:X8}");
        return Runtime(unchecked((uint)error)) is { } name ? $"{name} ({number})" : $"HRESULT {number}";
    }

    /// <summary>Returns the name of a POSIX error number, or null. A few numbers differ between Linux and macOS.</summary>
    public static string? Posix(int error, bool isMac) => PosixEverywhere(error) ?? (isMac ? Mac(error) : Linux(error));

    private static string WithNumber(string? name, int number) => name == null
        ? string.Create(CultureInfo.InvariantCulture, $"error {number}")
        : string.Create(CultureInfo.InvariantCulture, $"{name} ({number})");

    private static string? PosixEverywhere(int error) => error switch
    {
        1 => "EPERM",
        2 => "ENOENT",
        4 => "EINTR",
        5 => "EIO",
        6 => "ENXIO",
        9 => "EBADF",
        12 => "ENOMEM",
        13 => "EACCES",
        14 => "EFAULT",
        16 => "EBUSY",
        17 => "EEXIST",
        18 => "EXDEV",
        19 => "ENODEV",
        20 => "ENOTDIR",
        21 => "EISDIR",
        22 => "EINVAL",
        23 => "ENFILE",
        24 => "EMFILE",
        25 => "ENOTTY",
        26 => "ETXTBSY",
        27 => "EFBIG",
        28 => "ENOSPC",
        29 => "ESPIPE",
        30 => "EROFS",
        31 => "EMLINK",
        32 => "EPIPE",
        34 => "ERANGE",
        _ => null,
    };

    private static string? Linux(int error) => error switch
    {
        11 => "EAGAIN",
        35 => "EDEADLK",
        36 => "ENAMETOOLONG",
        37 => "ENOLCK",
        38 => "ENOSYS",
        39 => "ENOTEMPTY",
        40 => "ELOOP",
        61 => "ENODATA",
        62 => "ETIME",
        74 => "EBADMSG",
        75 => "EOVERFLOW",
        84 => "EILSEQ",
        95 => "EOPNOTSUPP",
        110 => "ETIMEDOUT",
        112 => "EHOSTDOWN",
        113 => "EHOSTUNREACH",
        116 => "ESTALE",
        117 => "EUCLEAN",
        121 => "EREMOTEIO",
        122 => "EDQUOT",
        123 => "ENOMEDIUM",
        124 => "EMEDIUMTYPE",
        125 => "ECANCELED",
        _ => null,
    };

    private static string? Mac(int error) => error switch
    {
        11 => "EDEADLK",
        35 => "EAGAIN",
        45 => "ENOTSUP",
        60 => "ETIMEDOUT",
        62 => "ELOOP",
        63 => "ENAMETOOLONG",
        64 => "EHOSTDOWN",
        65 => "EHOSTUNREACH",
        66 => "ENOTEMPTY",
        69 => "EDQUOT",
        70 => "ESTALE",
        77 => "ENOLCK",
        78 => "ENOSYS",
        84 => "EOVERFLOW",
        89 => "ECANCELED",
        92 => "EILSEQ",
        94 => "EBADMSG",
        96 => "ENODATA",
        102 => "EOPNOTSUPP",
        _ => null,
    };

    private static string? Runtime(uint error) => error switch
    {
        0x80131509 => "COR_E_INVALIDOPERATION",
        0x80131515 => "COR_E_NOTSUPPORTED",
        0x80131620 => "COR_E_IO",
        0x80131622 => "COR_E_OBJECTDISPOSED",
        _ => null,
    };

    private static string? Windows(int error) => error switch
    {
        1 => "ERROR_INVALID_FUNCTION",
        2 => "ERROR_FILE_NOT_FOUND",
        3 => "ERROR_PATH_NOT_FOUND",
        4 => "ERROR_TOO_MANY_OPEN_FILES",
        5 => "ERROR_ACCESS_DENIED",
        6 => "ERROR_INVALID_HANDLE",
        8 => "ERROR_NOT_ENOUGH_MEMORY",
        14 => "ERROR_OUTOFMEMORY",
        15 => "ERROR_INVALID_DRIVE",
        19 => "ERROR_WRITE_PROTECT",
        21 => "ERROR_NOT_READY",
        23 => "ERROR_CRC",
        25 => "ERROR_SEEK",
        27 => "ERROR_SECTOR_NOT_FOUND",
        29 => "ERROR_WRITE_FAULT",
        30 => "ERROR_READ_FAULT",
        31 => "ERROR_GEN_FAILURE",
        32 => "ERROR_SHARING_VIOLATION",
        33 => "ERROR_LOCK_VIOLATION",
        38 => "ERROR_HANDLE_EOF",
        39 => "ERROR_HANDLE_DISK_FULL",
        50 => "ERROR_NOT_SUPPORTED",
        53 => "ERROR_BAD_NETPATH",
        55 => "ERROR_DEV_NOT_EXIST",
        64 => "ERROR_NETNAME_DELETED",
        80 => "ERROR_FILE_EXISTS",
        87 => "ERROR_INVALID_PARAMETER",
        110 => "ERROR_OPEN_FAILED",
        112 => "ERROR_DISK_FULL",
        120 => "ERROR_CALL_NOT_IMPLEMENTED",
        121 => "ERROR_SEM_TIMEOUT",
        123 => "ERROR_INVALID_NAME",
        131 => "ERROR_NEGATIVE_SEEK",
        145 => "ERROR_DIR_NOT_EMPTY",
        158 => "ERROR_NOT_LOCKED",
        183 => "ERROR_ALREADY_EXISTS",
        206 => "ERROR_FILENAME_EXCED_RANGE",
        223 => "ERROR_FILE_TOO_LARGE",
        267 => "ERROR_DIRECTORY",
        303 => "ERROR_DELETE_PENDING",
        483 => "ERROR_DEVICE_HARDWARE_ERROR",
        665 => "ERROR_FILE_SYSTEM_LIMITATION",
        995 => "ERROR_OPERATION_ABORTED",
        998 => "ERROR_NOACCESS",
        1006 => "ERROR_FILE_INVALID",
        1110 => "ERROR_MEDIA_CHANGED",
        1112 => "ERROR_NO_MEDIA_IN_DRIVE",
        1117 => "ERROR_IO_DEVICE",
        1167 => "ERROR_DEVICE_NOT_CONNECTED",
        1224 => "ERROR_USER_MAPPED_FILE",
        1295 => "ERROR_DISK_QUOTA_EXCEEDED",
        1392 => "ERROR_FILE_CORRUPT",
        1393 => "ERROR_DISK_CORRUPT",
        1450 => "ERROR_NO_SYSTEM_RESOURCES",
        1455 => "ERROR_COMMITMENT_LIMIT",
        _ => null,
    };
}
