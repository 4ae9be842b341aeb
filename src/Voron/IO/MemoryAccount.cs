using Voron.Primitives;

namespace Voron.IO;

/// <summary>
/// Counts the native memory of an environment, and reports it to the garbage collector, which sees only managed memory and would otherwise
/// misjudge how soon it must collect.
/// </summary>
/// <remarks>
/// The parts that take memory add their large pieces. The collector is notified in steps of <see cref="StepBytes"/>, on a
/// thread-pool thread, because the notification may begin a collection. Tables that are indexed by page and are only reserved are not counted.
/// </remarks>
internal sealed class MemoryAccount : IThreadPoolWorkItem, IDisposable
{
    /// <summary>The collector reacts to sums of this order; smaller steps would only cost time.</summary>
    public const long StepBytes = 16 << 20;

    // Protects the reported sum. No other lock is taken while it is held.
    private readonly Lock _gate = new();

    private readonly Action<long> _add;
    private readonly Action<long> _remove;
    private long _bytes;
    private long _peakBytes;
    private long _reportedBytes;
    private int _isQueued;
    private bool _isClosed;

    public MemoryAccount()
        : this(GC.AddMemoryPressure, GC.RemoveMemoryPressure)
    {
    }

    /// <param name="add">Notifies the collector of more memory.</param>
    /// <param name="remove">Notifies the collector of less memory.</param>
    public MemoryAccount(Action<long> add, Action<long> remove)
    {
        _add = add;
        _remove = remove;
    }

    /// <summary>The bytes of native memory in use.</summary>
    public long Bytes => Volatile.Read(ref _bytes);

    /// <summary>The peak number of bytes in use.</summary>
    public long PeakBytes => Volatile.Read(ref _peakBytes);

    /// <summary>Adds memory that has been taken from the system or, if negative, returned to it. Never throws.</summary>
    public void Add(long change)
    {
        var bytes = Interlocked.Add(ref _bytes, change);
        for (var peak = Volatile.Read(ref _peakBytes); bytes > peak;)
        {
            var seen = Interlocked.CompareExchange(ref _peakBytes, bytes, peak);
            if (seen == peak)
                break;
            peak = seen;
        }

        if (Math.Abs(bytes - Volatile.Read(ref _reportedBytes)) >= StepBytes && Interlocked.Exchange(ref _isQueued, 1) == 0)
            Queue();
    }

    void IThreadPoolWorkItem.Execute()
    {
        // Cleared first: a later change queues another report.
        Volatile.Write(ref _isQueued, 0);
        using (Uninterrupted.Hold(_gate))
        {
            if (!_isClosed)
                Report(Bytes / StepBytes * StepBytes);
        }
    }

    /// <summary>Withdraws the reported memory. Called when the memory has been freed.</summary>
    public void Dispose()
    {
        using (Uninterrupted.Hold(_gate))
        {
            _isClosed = true;
            Report(0);
        }
    }

    private void Queue()
    {
        // Otherwise the next change tries again.
        if (!PoolWork.TryQueue(this))
            Volatile.Write(ref _isQueued, 0);
    }

    private void Report(long bytes)
    {
        var change = bytes - _reportedBytes;
        if (change > 0)
            _add(change);
        else if (change < 0)
            _remove(-change);
        Volatile.Write(ref _reportedBytes, bytes);
    }
}
