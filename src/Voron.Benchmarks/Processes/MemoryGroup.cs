using System.Globalization;

namespace Voron.Benchmarks.Processes;

/// <summary>A memory cgroup (version 2) that this process joins, together with the processes that it starts.</summary>
internal sealed class MemoryGroup : IDisposable
{
    private const string Root = "/sys/fs/cgroup";

    private readonly string _path;
    private readonly string _parent;

    private MemoryGroup(string path, string parent)
    {
        _path = path;
        _parent = parent;
    }

    /// <summary>Returns null, and reports the reason, if the system has no such groups or this user cannot create one.</summary>
    public static MemoryGroup? TryJoin(long bytes, Action<string> say)
    {
        var controllers = Path.Combine(Root, "cgroup.controllers");
        if (!File.Exists(controllers) || !File.ReadAllText(controllers).Contains("memory", StringComparison.Ordinal))
        {
            say($"No memory limit by cgroup: {Root} is not a cgroup v2 hierarchy with a memory controller.");
            return null;
        }
        var path = Path.Combine(Root, string.Create(CultureInfo.InvariantCulture, $"voron-benchmarks-{Environment.ProcessId}"));
        try
        {
            Directory.CreateDirectory(path);
            File.WriteAllText(Path.Combine(path, "memory.max"), bytes.ToString(CultureInfo.InvariantCulture));
            File.WriteAllText(Path.Combine(path, "memory.swap.max"), "0");
            Move(path);
            return new MemoryGroup(path, Root);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            say($"No memory limit by cgroup: {error.Message}");
            return null;
        }
    }

    public void Dispose()
    {
        try
        {
            Move(_parent);
            Directory.Delete(_path);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // An empty group that is left behind costs nothing.
        }
    }

    private static void Move(string group) =>
        File.WriteAllText(Path.Combine(group, "cgroup.procs"), Environment.ProcessId.ToString(CultureInfo.InvariantCulture));
}
