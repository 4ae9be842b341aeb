namespace Voron.Benchmarks.Measurement;

/// <summary>Disk space used by a directory: allocated blocks on Linux, file lengths elsewhere.</summary>
internal static class DiskUsage
{
    public static long AllocatedBytes(string directory)
    {
        long total = 0;
        foreach (var file in new DirectoryInfo(directory).EnumerateFiles("*", SearchOption.AllDirectories))
        {
            try
            {
                total += AllocatedFileBytes(file.FullName);
            }
            catch (FileNotFoundException)
            {
                // A journal can be recycled between the listing and this call.
            }
        }
        return total;
    }

    public static long AllocatedFileBytes(string path) =>
        OperatingSystem.IsLinux() && LinuxCalls.TryGetStatus(path) is { } status ? status.AllocatedBytes : new FileInfo(path).Length;

    /// <summary>Fails before a long run if the volume is clearly too small.</summary>
    public static void RequireFreeSpace(string directory, long neededBytes)
    {
        var freeBytes = new DriveInfo(Path.GetFullPath(directory)).AvailableFreeSpace;
        if (freeBytes < neededBytes)
        {
            throw new BenchmarkException(
                $"{directory} has {freeBytes / 1_000_000:N0} MB free; this run may need {neededBytes / 1_000_000:N0} MB. "
                + "Choose another --directory, or fewer items.");
        }
    }
}
