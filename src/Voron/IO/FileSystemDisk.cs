using Microsoft.Extensions.Logging;
using Voron.IO.Posix;
using Voron.IO.Windows;

namespace Voron.IO;

/// <summary>Opens a directory of the operating system as a disk.</summary>
internal static class FileSystemDisk
{
    /// <summary>
    /// Opens <paramref name="directory"/>, and creates it when it is missing, unless <paramref name="readOnly"/> is true or
    /// <paramref name="creates"/> false. Symbolic links are resolved, so that messages name the real location.
    /// </summary>
    /// <exception cref="DiskException">
    /// <see cref="DiskError.NotFound"/> when the directory is missing, <see cref="DiskError.NotSupported"/> on a network file system, whose
    /// locks, maps and syncs do not keep the promises of <see cref="IDisk"/>.
    /// </exception>
    /// <param name="directory">The path of the directory.</param>
    /// <param name="readOnly">True to change nothing.</param>
    /// <param name="logger">Receives the warnings.</param>
    /// <param name="fileMode">
    /// The permissions of new files, where the system has file permissions; for a new directory, read permission also grants search permission.
    /// </param>
    /// <param name="creates">False to leave a missing directory missing.</param>
    /// <param name="acceptsNetwork">True for files that are only written, and not shared: a network file system suffices.</param>
    public static IDisk Open(
        string directory, bool readOnly, ILogger logger, UnixFileMode fileMode = FilePermissions.OwnerOnly, bool creates = true,
        bool acceptsNetwork = false)
    {
        ArgumentException.ThrowIfNullOrEmpty(directory);
        ArgumentNullException.ThrowIfNull(logger);
        if (!Environment.Is64BitProcess)
            throw new PlatformNotSupportedException("Voron needs a 64-bit process, because it maps data files as a whole.");

        var full = Path.GetFullPath(directory);
        var created = readOnly || !creates ? [] : CreateMissing(full, fileMode);

        if (OperatingSystem.IsWindows())
            return WindowsDisk.Open(full, readOnly, acceptsNetwork);
        if (OperatingSystem.IsLinux() || OperatingSystem.IsMacOS())
            return PosixDisk.Open(full, readOnly, created, logger, new() { FileMode = fileMode, AcceptsNetwork = acceptsNetwork });
        throw new PlatformNotSupportedException("Voron runs on Linux, macOS and Windows.");
    }

    /// <summary>Creates the directory and its missing parents. Returns the new directories, so that their parents can be synced.</summary>
    private static List<string> CreateMissing(string directory, UnixFileMode fileMode)
    {
        var created = new List<string>();
        for (var at = directory; at is not null && !Directory.Exists(at); at = Path.GetDirectoryName(at))
            created.Add(at);

        if (created.Count == 0)
            return created;
        try
        {
            if (OperatingSystem.IsWindows())
                Directory.CreateDirectory(directory);
            else
                Directory.CreateDirectory(directory, FilePermissions.OfDirectory(fileMode));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            if (created.Find(File.Exists) is { } file)
                throw new DiskException(DiskError.AlreadyExists, "create directory", directory, $"'{file}' is a file, not a directory");
            throw SystemErrors.From(e, "create directory", directory);
        }

        return created;
    }
}
