using System.Diagnostics;

namespace Voron.Journal;

/// <summary>
/// The device's time for a write and for each additional byte, learned from the writes as they happen, to decide whether a second write under way
/// and compression pay.
/// </summary>
/// <remarks>
/// A device is slow if the fastest of each eight small writes was: one that is only busy for a moment is not.
/// <para>
/// A write costs a fixed time plus a time for each byte. The difference between the moving averages of small and of large writes gives the
/// time for each byte. Updated by one writing thread at a time; read by any thread.
/// </para>
/// </remarks>
/// <param name="slowWrite">The duration of the fastest slow write; <see cref="TimeSpan.MaxValue"/> to measure nothing.</param>
internal sealed class DeviceSpeed(TimeSpan slowWrite)
{
    private const int WritesOfClass = 8;

    // The writes whose time depends little on their bytes.
    private const long ClassBytes = 64 << 10;

    private const long SmallBytes = 8 << 10;
    private const long LargeBytes = 24 << 10;
    private const double Weight = 1.0 / 64;

    /// <summary>
    /// A codec that processes 0.7 bytes per nanosecond and saves a third pays if the device needs more than this per byte.
    /// </summary>
    private const double CodecNanosecondsPerByte = 4.4;

    private double _smallBytes;
    private double _smallNanoseconds;
    private double _largeBytes;
    private double _largeNanoseconds;
    private bool _isSlowerThanCodec;
    private long _fastestTicks = long.MaxValue;
    private int _writes;
    private long _slowTicks;

    public bool IsSlowerThanCodec => Volatile.Read(ref _isSlowerThanCodec);

    /// <summary>The duration of a write, in ticks of <see cref="Stopwatch"/>, if the device is slow; 0 if it is not.</summary>
    public long SlowTicks => Volatile.Read(ref _slowTicks);

    /// <summary>Declares a device slow or fast before it is measured, for tests.</summary>
    public void Declare(bool isSlow) => Volatile.Write(ref _slowTicks, isSlow ? 1 : 0);

    public void Add(long bytes, long ticks)
    {
        Classify(bytes, ticks);
        var nanoseconds = ticks * (1e9 / Stopwatch.Frequency);
        if (bytes <= SmallBytes)
            Move(ref _smallBytes, ref _smallNanoseconds, bytes, nanoseconds);
        else if (bytes >= LargeBytes)
            Move(ref _largeBytes, ref _largeNanoseconds, bytes, nanoseconds);
        else
            return;

        // Both averages must be known, because most of the time of a single write does not depend on its bytes.
        var isKnown = _smallBytes > 0 && _largeBytes > 0;
        var perByte = isKnown ? (_largeNanoseconds - _smallNanoseconds) / (_largeBytes - _smallBytes) : 0;
        Volatile.Write(ref _isSlowerThanCodec, perByte > CodecNanosecondsPerByte);
    }

    private void Classify(long bytes, long ticks)
    {
        if (bytes > ClassBytes || slowWrite == TimeSpan.MaxValue)
            return;
        _fastestTicks = Math.Min(_fastestTicks, ticks);
        if (++_writes < WritesOfClass)
            return;
        Volatile.Write(ref _slowTicks, Stopwatch.GetElapsedTime(0, _fastestTicks) < slowWrite ? 0 : Math.Max(1, _fastestTicks));
        (_writes, _fastestTicks) = (0, long.MaxValue);
    }

    private static void Move(ref double meanBytes, ref double meanNanoseconds, double bytes, double nanoseconds)
    {
        var weight = meanBytes == 0 ? 1 : Weight;
        meanBytes += (bytes - meanBytes) * weight;
        meanNanoseconds += (nanoseconds - meanNanoseconds) * weight;
    }
}
