namespace Voron.Benchmarks.Processes;

/// <summary>The names of the files by which a system controls memory groups: cgroups have two versions.</summary>
/// <param name="Parent">The group in which new ones are created.</param>
/// <param name="SwapLimit">The file with the limit of swapped memory; it exists only where memory can be swapped.</param>
/// <param name="Events">The file that counts ended processes.</param>
internal sealed record MemoryGroupFiles(string Parent, string Limit, string SwapLimit, string Peak, string Events, string AnonymousName)
{
    public const string Processes = "cgroup.procs";
    public const string Statistics = "memory.stat";
    public const string KillsName = "oom_kill";

    private const string Root = "/sys/fs/cgroup";
    private const string SelfFile = "/proc/self/cgroup";
    private const string SwapFile = "memory.swap.max";

    /// <summary>Returns the files of this system, or null if it has none.</summary>
    public static MemoryGroupFiles? Find()
    {
        var controllers = Path.Combine(Root, "cgroup.controllers");
        if (File.Exists(controllers))
        {
            return File.ReadAllText(controllers).Contains("memory", StringComparison.Ordinal)
                ? new MemoryGroupFiles(Root, "memory.max", SwapFile, "memory.peak", "memory.events", "anon")
                : null;
        }

        // Version 1: a group of its own below that of this process, in the hierarchy of the controller.
        const string Controller = ":memory:";
        var hierarchy = Path.Combine(Root, "memory");
        if (!Directory.Exists(hierarchy) || !File.Exists(SelfFile))
            return null;
        var line = File.ReadLines(SelfFile).FirstOrDefault(text => text.Contains(Controller, StringComparison.Ordinal));
        if (line is null)
            return null;
        var own = hierarchy + line[(line.IndexOf(Controller, StringComparison.Ordinal) + Controller.Length)..];
        return new MemoryGroupFiles(
            Directory.Exists(own) ? own : hierarchy, "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes",
            "memory.oom_control", "rss");
    }

    /// <summary>Returns the limit that allows no swapping: version 1 counts memory and swapped memory together.</summary>
    public long SwapOf(long bytes) => SwapLimit == SwapFile ? 0 : bytes;
}
