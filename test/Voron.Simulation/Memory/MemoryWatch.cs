using Voron.IO;

namespace Voron.Simulation.Memory;

/// <summary>Counts the engine's allocations, refuses them from a certain one on, and tracks memory that was not freed.</summary>
/// <remarks>Called by one thread at a time.</remarks>
internal sealed class MemoryWatch : IMemoryWatch
{
    private const string FlusherName = "Voron flusher";

    private readonly Dictionary<nint, (nuint Bytes, string Origin)> _live = [];
    private long _failAt = -1;
    private bool _forEver;

    /// <summary>The number of requested allocations.</summary>
    public long Asked { get; private set; }

    /// <summary>The number of allocations requested before the newest call of <see cref="FailNoMore"/>.</summary>
    public long AskedUntilThen { get; private set; }

    /// <summary>The number of refused allocations.</summary>
    public long Refused { get; private set; }

    /// <summary>The number refused to the engine's own flusher, of which no caller learns.</summary>
    public long RefusedToFlusher { get; private set; }

    /// <summary>True to record where each block was taken, which is slow.</summary>
    public bool TracksOrigins { get; init; }

    /// <summary>The stack trace of the first refusal.</summary>
    public string? RefusedAt { get; private set; }

    /// <summary>Makes one allocation fail, or all from that one on.</summary>
    /// <param name="allocation">The number of the allocation, counted from the first of all.</param>
    public void FailAt(long allocation, bool forEver) => (_failAt, _forEver) = (allocation, forEver);

    /// <summary>Makes memory available again.</summary>
    public void FailNoMore()
    {
        _failAt = -1;
        AskedUntilThen = Asked;
    }

    /// <summary>Describes memory that has not been freed; null if all has.</summary>
    public string? Leaked()
    {
        lock (_live)
        {
            return _live.Count == 0
                ? null
                : $"{_live.Count} blocks, the first of {_live.Values.First().Bytes} bytes, were not returned: {_live.Values.First().Origin}";
        }
    }

    bool IMemoryWatch.Allows(nuint bytes)
    {
        var number = Asked++;
        if (_failAt < 0 || number < _failAt || (number > _failAt && !_forEver))
            return true;
        Refused++;
        RefusedToFlusher += Thread.CurrentThread.Name == FlusherName ? 1 : 0;
        if (RefusedAt is null && TracksOrigins)
            RefusedAt = Environment.StackTrace;
        return false;
    }

    void IMemoryWatch.Taken(nint address, nuint bytes)
    {
        lock (_live)
            _live[address] = (bytes, TracksOrigins ? Environment.StackTrace : "");
    }

    void IMemoryWatch.Freed(nint address)
    {
        lock (_live)
            _live.Remove(address);
    }
}
