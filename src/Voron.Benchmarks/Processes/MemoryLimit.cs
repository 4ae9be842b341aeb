using System.Globalization;

namespace Voron.Benchmarks.Processes;

/// <summary>
/// Less memory for the processes started while it stands: by a memory cgroup where one can be made, else by a balloon that
/// leaves so much to the whole machine.
/// </summary>
internal sealed class MemoryLimit : IDisposable
{
    private const long MiB = 1 << 20;

    /// <summary>Below this the runtime itself, let alone an engine, has no room.</summary>
    private const long SmallestGroupBytes = 384 * MiB;

    /// <summary>A balloon squeezes everybody on the machine.</summary>
    private const long SmallestFreeBytes = 1024 * MiB;

    private readonly MemoryGroup? _group;
    private readonly MemoryBalloon? _balloon;

    private MemoryLimit(MemoryGroup? group, MemoryBalloon? balloon, string description)
    {
        _group = group;
        _balloon = balloon;
        Description = description;
    }

    /// <summary>How memory is limited, for the tables.</summary>
    public string Description { get; }

    /// <summary>False when the limit was lost on the way.</summary>
    public bool Held => _balloon?.IsHolding ?? true;

    /// <summary>Null, with the reason told, where neither way is open.</summary>
    public static MemoryLimit? TrySet(long bytes, Action<string> say)
    {
        if (bytes >= SmallestGroupBytes && MemoryGroup.TryJoin(bytes, say) is { } group)
            return new MemoryLimit(group, null, $"{bytes / MiB} MiB by cgroup");
        if (bytes < SmallestFreeBytes)
        {
            say($"No memory limit: {bytes / MiB} MiB is too little, {SmallestFreeBytes / MiB} MiB the least that a balloon leaves.");
            return null;
        }
        if (MemoryBalloon.TryStart(bytes, say) is not { } balloon)
            return null;
        string description = string.Create(
            CultureInfo.InvariantCulture, $"{bytes / MiB} MiB left by a balloon of {balloon.HeldBytes / MiB} MiB locked memory");
        return new MemoryLimit(null, balloon, description);
    }

    public void Dispose()
    {
        _group?.Dispose();
        _balloon?.Dispose();
    }
}
