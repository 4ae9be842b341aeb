using Voron.IO;

namespace Voron.Torture.Damage;

/// <summary>Measures the most native memory that the engine has at any one time, on one thread.</summary>
/// <remarks>
/// Address ranges that are reserved in large stretches, and get their memory as they are used, do not count as memory. Their lengths are
/// recorded: they must equal those of any other environment.
/// </remarks>
internal sealed class MemoryMeter : IMemoryWatch
{
    /// <summary>Far larger than any block of memory that a small environment needs.</summary>
    private const long MinStretch = 512 << 20;

    private readonly Dictionary<nint, long> _blocks = [];
    private readonly HashSet<ulong> _stretches = [];
    private readonly Lock _gate = new();
    private long _bytes;

    /// <summary>The most bytes that were in use at any one time.</summary>
    public long Most { get; private set; }

    /// <summary>The lengths of allocations too long to be anything but address ranges.</summary>
    public IReadOnlySet<ulong> Stretches => _stretches;

    public bool Allows(nuint bytes)
    {
        if (bytes < MinStretch)
            return true;
        lock (_gate)
            _stretches.Add(bytes);
        return true;
    }

    public void Taken(nint address, nuint bytes)
    {
        if (bytes >= MinStretch)
            return;
        lock (_gate)
        {
            _blocks[address] = (long)bytes;
            _bytes += (long)bytes;
            Most = Math.Max(Most, _bytes);
        }
    }

    public void Freed(nint address)
    {
        lock (_gate)
        {
            if (_blocks.Remove(address, out var bytes))
                _bytes -= bytes;
        }
    }
}
