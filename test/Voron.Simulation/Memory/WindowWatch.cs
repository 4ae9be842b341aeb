using Voron.IO;
using Voron.Recovery;

namespace Voron.Simulation.Memory;

/// <summary>Counts the windows through which a recovery reads the journal.</summary>
internal sealed class WindowWatch : IMemoryWatch
{
    private readonly HashSet<nint> _live = [];

    /// <summary>The largest number of windows that were live at once.</summary>
    public int Most { get; private set; }

    public int Now => _live.Count;

    /// <summary>The total number of windows.</summary>
    public int Taken { get; private set; }

    /// <summary>Counts the windows that the calling thread takes until the result is disposed.</summary>
    public IDisposable Watch() => new WatchedThread(this);

    bool IMemoryWatch.Allows(nuint bytes) => true;

    void IMemoryWatch.Taken(nint address, nuint bytes)
    {
        if (!Environment.StackTrace.Contains($"{nameof(RecordWindow)}.{nameof(RecordWindow.Load)}", StringComparison.Ordinal))
            return;
        _live.Add(address);
        Most = Math.Max(Most, _live.Count);
        Taken++;
    }

    void IMemoryWatch.Freed(nint address) => _live.Remove(address);
}

/// <summary>A limit on the addresses of a thread, like the limit of a process by <c>ulimit -v</c>.</summary>
/// <param name="limit">The limit in bytes.</param>
internal sealed class AddressLimit(long limit) : IMemoryWatch
{
    private readonly Dictionary<nint, long> _live = [];
    private long _bytes;

    /// <summary>Limits the calling thread until the result is disposed.</summary>
    public IDisposable Watch() => new WatchedThread(this);

    bool IMemoryWatch.Allows(nuint bytes)
    {
        lock (_live)
            return (long)bytes <= limit - _bytes;
    }

    void IMemoryWatch.Taken(nint address, nuint bytes)
    {
        lock (_live)
        {
            _live[address] = (long)bytes;
            _bytes += (long)bytes;
        }
    }

    void IMemoryWatch.Freed(nint address)
    {
        lock (_live)
        {
            if (_live.Remove(address, out var bytes))
                _bytes -= bytes;
        }
    }
}

/// <summary>Attaches a watch to the allocations of the calling thread.</summary>
internal sealed class WatchedThread : IDisposable
{
    private readonly IMemoryWatch? _before = EngineMemory.Watch;

    public WatchedThread(IMemoryWatch watch) => EngineMemory.Watch = watch;

    public void Dispose() => EngineMemory.Watch = _before;
}
