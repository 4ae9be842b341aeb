using Voron.IO;

namespace Voron.Torture.Damage;

/// <summary>Knows how much native memory the engine has at most at a time, on one thread.</summary>
/// <remarks>
/// Addresses that are reserved in large stretches, and get their memory as they are used, are no memory. Of these the lengths are noted:
/// they are those of any other environment.
/// </remarks>
internal sealed class MemoryMeter : IMemoryWatch
{
    /// <summary>No block of memory that a small environment needs comes near it.</summary>
    private const long MinStretch = 512 << 20;

    private readonly Dictionary<nint, long> _blocks = [];
    private readonly HashSet<ulong> _stretches = [];
    private readonly Lock _gate = new();
    private long _bytes;

    /// <summary>The most bytes that were in use at a time.</summary>
    public long Most { get; private set; }

    /// <summary>The lengths of what was asked for in stretches too long to be anything but addresses.</summary>
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
            if (_blocks.Remove(address, out long bytes))
                _bytes -= bytes;
        }
    }
}
