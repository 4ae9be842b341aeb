using Microsoft.Extensions.Logging;
using Voron.IO;

namespace Voron.Backup;

/// <summary>Opens the directory into which an environment is restored or copied.</summary>
internal static class EmptyDirectory
{
    /// <summary>Opens a directory that must be empty, and creates it if it is missing.</summary>
    /// <exception cref="BackupException">The directory is not empty.</exception>
    /// <exception cref="StorageFullException">There is no space for the directory.</exception>
    /// <exception cref="StorageAccessException">The directory cannot be read or created.</exception>
    public static IDisk Open(string directory, UnixFileMode fileMode, ILogger logger)
    {
        try
        {
            // A disk lists files only.
            if (Directory.Exists(directory) && Directory.EnumerateFileSystemEntries(directory).FirstOrDefault() is { } entry)
                throw EnvironmentCopy.NotEmpty(directory, Path.GetFileName(entry));
            return FileSystemDisk.Open(directory, readOnly: false, logger, fileMode);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw TargetFailure.Of($"The directory '{directory}' cannot be used for an environment: {e.Message}", e);
        }
    }
}
