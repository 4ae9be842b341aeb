using System.Globalization;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// Limits the memory of the processes that are started during its lifetime: by a memory cgroup if one can be created, otherwise by a
/// balloon that leaves only that much to the whole machine.
/// </summary>
internal sealed class MemoryLimit : IDisposable
{
    private const long MiB = 1 << 20;

    /// <summary>Below this, even the runtime has no room.</summary>
    private const long SmallestGroupBytes = 384 * MiB;

    /// <summary>A balloon takes memory from every process on the machine.</summary>
    private const long SmallestFreeBytes = 1024 * MiB;

    private readonly MemoryGroup? _group;
    private readonly MemoryBalloon? _balloon;

    private MemoryLimit(MemoryGroup? group, MemoryBalloon? balloon, string description)
    {
        _group = group;
        _balloon = balloon;
        Description = description;
    }

    /// <summary>Describes for the tables how memory is limited.</summary>
    public string Description { get; }

    /// <summary>False if the limit was lost during the measurement.</summary>
    public bool Held => _balloon?.IsHolding ?? true;

    /// <summary>Returns null, and reports the reason, if neither way is possible.</summary>
    public static MemoryLimit? TrySet(long bytes, Action<string> say)
    {
        if (bytes >= SmallestGroupBytes && TryJoin(bytes, say) is { } group)
            return new MemoryLimit(group, null, $"{bytes / MiB} MiB by cgroup");
        if (bytes < SmallestFreeBytes)
        {
            say(
                $"No memory limit: a balloon leaves at least {SmallestFreeBytes / MiB} MiB, and {bytes / MiB} MiB is less. "
                + "Use more items or a larger --memory-limit.");
            return null;
        }
        if (MemoryBalloon.TryStart(bytes, say) is not { } balloon)
            return null;
        var description = string.Create(
            CultureInfo.InvariantCulture, $"{bytes / MiB} MiB left by a balloon of {balloon.HeldBytes / MiB} MiB locked memory");
        return new MemoryLimit(null, balloon, description);
    }

    private static MemoryGroup? TryJoin(long bytes, Action<string> say)
    {
        var group = MemoryGroup.TryCreate(bytes, say);
        if (group is null || group.TryJoin(say))
            return group;
        group.Dispose();
        return null;
    }

    public void Dispose()
    {
        _group?.Dispose();
        _balloon?.Dispose();
    }
}
