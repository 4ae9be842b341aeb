namespace Voron.IO;

/// <summary>The system's information about a directory, as far as the base library provides it: its files and the space on its volume.</summary>
internal static class SystemDirectory
{
    /// <summary>
    /// Returns the size in bytes of the volume that a directory is on; <see cref="long.MaxValue"/> where the system does not report it.
    /// </summary>
    public static long VolumeBytes(string directory)
    {
        try
        {
            var bytes = new DriveInfo(directory).TotalSize;
            return bytes > 0 ? bytes : long.MaxValue;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return long.MaxValue;
        }
    }

    /// <summary>
    /// Returns the free bytes of the file system that a directory is on; <see cref="long.MaxValue"/> where the system does not report them.
    /// </summary>
    public static long AvailableBytes(string directory)
    {
        try
        {
            return new DriveInfo(directory).AvailableFreeSpace;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return long.MaxValue;
        }
    }

    /// <summary>Returns the files of a directory, without those that vanish while it is being listed.</summary>
    public static List<DiskEntry> List(string directory)
    {
        var entries = new List<DiskEntry>();
        try
        {
            foreach (var file in new DirectoryInfo(directory).EnumerateFiles())
            {
                try
                {
                    entries.Add(new DiskEntry(file.Name, file.Length));
                }
                catch (FileNotFoundException)
                {
                    // The file has been deleted since: it does not exist, so it is not listed.
                }
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw SystemErrors.From(e, "list", directory);
        }
        return entries;
    }
}
