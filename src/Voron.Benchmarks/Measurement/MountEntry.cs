namespace Voron.Benchmarks.Measurement;

/// <summary>The entry of the mount table that covers a path.</summary>
internal sealed record MountEntry(string MountPoint, string FileSystem, string Source)
{
    private const int MountPointField = 4;

    public static MountEntry? Find(string path)
    {
        if (!OperatingSystem.IsLinux() || !File.Exists("/proc/self/mountinfo"))
            return null;
        var full = Path.GetFullPath(path);
        MountEntry? best = null;
        foreach (var line in File.ReadLines("/proc/self/mountinfo"))
        {
            // A later line with the same mount point hides the earlier one.
            if (Parse(line) is { } entry && Covers(entry.MountPoint, full) && entry.MountPoint.Length >= (best?.MountPoint.Length ?? 0))
                best = entry;
        }
        return best;
    }

    /// <summary>The number of optional fields varies. A single dash ends them; file system and source follow.</summary>
    private static MountEntry? Parse(string line)
    {
        var fields = line.Split(' ');
        var dash = Array.IndexOf(fields, "-");
        if (dash <= MountPointField || dash + 2 >= fields.Length)
            return null;
        return new MountEntry(fields[MountPointField].Replace("\\040", " ", StringComparison.Ordinal), fields[dash + 1], fields[dash + 2]);
    }

    private static bool Covers(string mountPoint, string path) =>
        mountPoint == "/" || path == mountPoint || path.StartsWith(mountPoint + "/", StringComparison.Ordinal);
}
