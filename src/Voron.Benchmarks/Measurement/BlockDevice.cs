namespace Voron.Benchmarks.Measurement;

/// <summary>
/// The block device under a directory and its write counters. They count the writes of every process to that device or partition, so
/// figures are reliable only on a quiet machine.
/// </summary>
internal sealed class BlockDevice
{
    private const int WritesCompletedField = 4;
    private const int SectorsWrittenField = 6;
    private const int SectorBytes = 512;

    private static readonly TimeSpan Quiet = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan RestLimit = TimeSpan.FromSeconds(10);

    private readonly string _statPath;

    private BlockDevice(string name, string statPath)
    {
        Name = name;
        _statPath = statPath;
    }

    /// <summary>The kernel's name of the device, e.g. <c>nvme0n1p2</c>.</summary>
    public string Name { get; }

    /// <summary>The device under <paramref name="directory"/>, or null if there is none or the system has no such counters.</summary>
    public static BlockDevice? Find(string directory)
    {
        if (!OperatingSystem.IsLinux() || LinuxCalls.TryGetStatus(directory) is not { } status)
            return null;
        if (FromNumbers(status.DeviceMajor, status.DeviceMinor) is { } device)
            return device;

        // btrfs and overlays report an anonymous device; the mount table names the real one.
        return MountEntry.Find(directory) is { } mount && LinuxCalls.TryGetStatus(mount.Source) is { NodeMajor: not 0 } node
            ? FromNumbers(node.NodeMajor, node.NodeMinor)
            : null;
    }

    /// <summary>
    /// Waits until the device under a directory has been quiet for a while, at most ten seconds. An opening takes a few reads and syncs;
    /// measured right after a load, a warm-up or a probe, it would show what the device still has to write back from those.
    /// </summary>
    public static void AwaitRest(string directory)
    {
        LinuxCalls.SyncAll();
        if (Find(directory) is not { } device)
            return;
        var started = Stopwatch.GetTimestamp();
        for (var before = device.Read(); Stopwatch.GetElapsedTime(started) < RestLimit;)
        {
            Thread.Sleep(Quiet);
            var now = device.Read();
            if (now == before)
                return;
            before = now;
        }
    }

    /// <summary>Reads the counters, or returns null if the device has been removed.</summary>
    public DeviceWrites? Read()
    {
        try
        {
            var fields = File.ReadAllText(_statPath).Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries);
            var writes = long.Parse(fields[WritesCompletedField], CultureInfo.InvariantCulture);
            var sectors = long.Parse(fields[SectorsWrittenField], CultureInfo.InvariantCulture);
            return new DeviceWrites(sectors * SectorBytes, writes);
        }
        catch (IOException)
        {
            return null;
        }
    }

    private static BlockDevice? FromNumbers(uint major, uint minor)
    {
        var link = $"/sys/dev/block/{major}:{minor}";
        var statPath = Path.Combine(link, "stat");
        if (major == 0 || !File.Exists(statPath))
            return null;
        var name = Path.GetFileName(Directory.ResolveLinkTarget(link, returnFinalTarget: true)?.FullName) ?? link;
        return new BlockDevice(name, statPath);
    }
}

/// <summary>A device's counters, or the difference of two readings.</summary>
internal readonly record struct DeviceWrites(long Bytes, long Writes)
{
    public static DeviceWrites operator -(DeviceWrites later, DeviceWrites earlier) =>
        new(later.Bytes - earlier.Bytes, later.Writes - earlier.Writes);
}

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
