using Voron.IO;

namespace Voron.Torture.Memory;

/// <summary>Counts what the engine asks for, refuses it from a certain time on, and knows what was not given back.</summary>
/// <remarks>Asked by one thread at a time.</remarks>
internal sealed class MemoryWatch : IMemoryWatch
{
    private const string FlusherName = "Voron flusher";

    private readonly Dictionary<nint, (nuint Bytes, string Origin)> _live = [];
    private long _failAt = -1;
    private bool _forEver;

    /// <summary>How often was asked.</summary>
    public long Asked { get; private set; }

    /// <summary>How often was asked before the newest call of <see cref="FailNoMore"/>.</summary>
    public long AskedUntilThen { get; private set; }

    /// <summary>How often that was refused.</summary>
    public long Refused { get; private set; }

    /// <summary>How often to the engine's own flusher, of which nobody is told.</summary>
    public long RefusedToFlusher { get; private set; }

    /// <summary>Notes where each block was taken, which takes long.</summary>
    public bool TracksOrigins { get; init; }

    /// <summary>Where the first refusal was.</summary>
    public string? RefusedAt { get; private set; }

    /// <summary>Has one allocation fail, or all from that one on.</summary>
    /// <param name="allocation">Which, counted from the first of all.</param>
    public void FailAt(long allocation, bool forEver) => (_failAt, _forEver) = (allocation, forEver);

    /// <summary>There is memory again.</summary>
    public void FailNoMore()
    {
        _failAt = -1;
        AskedUntilThen = Asked;
    }

    /// <summary>What has not been given back; null when everything has.</summary>
    public string? Leaked()
    {
        lock (_live)
        {
            return _live.Count == 0
                ? null
                : $"{_live.Count} blocks, the first of {_live.Values.First().Bytes} bytes, were not given back: {_live.Values.First().Origin}";
        }
    }

    bool IMemoryWatch.Allows(nuint bytes)
    {
        long number = Asked++;
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
