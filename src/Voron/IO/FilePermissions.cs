namespace Voron.IO;

/// <summary>The permissions of an environment's files and directory, where the system has file permissions.</summary>
internal static class FilePermissions
{
    /// <summary>Read and write permission for the owner only.</summary>
    public const UnixFileMode OwnerOnly = UnixFileMode.UserRead | UnixFileMode.UserWrite;

    /// <summary>Returns the read and write permissions of a file, as far as they are known; those of the owner in any case.</summary>
    [System.Runtime.Versioning.UnsupportedOSPlatform("windows")]
    public static UnixFileMode OfFile(string path)
    {
        const UnixFileMode all = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.GroupWrite
            | UnixFileMode.OtherRead | UnixFileMode.OtherWrite;
        try
        {
            return (File.GetUnixFileMode(path) & all) | OwnerOnly;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return OwnerOnly;
        }
    }

    /// <summary>Returns the permissions of a new directory for files with these permissions: read permission also grants search permission.</summary>
    public static UnixFileMode OfDirectory(UnixFileMode fileMode)
    {
        var mode = fileMode | UnixFileMode.UserExecute;
        if ((fileMode & UnixFileMode.GroupRead) != 0)
            mode |= UnixFileMode.GroupExecute;
        if ((fileMode & UnixFileMode.OtherRead) != 0)
            mode |= UnixFileMode.OtherExecute;
        return mode;
    }
}
