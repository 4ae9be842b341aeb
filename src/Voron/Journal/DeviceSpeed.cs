using System.Diagnostics;

namespace Voron.Journal;

/// <summary>
/// The device's time for each additional byte, learned from the writes as they happen, to decide whether compression pays.
/// </summary>
/// <remarks>
/// A write costs a fixed time plus a time for each byte. The difference between the moving averages of small and of large writes gives the
/// time for each byte. Updated by one writing thread at a time; read by any thread.
/// </remarks>
internal sealed class DeviceSpeed
{
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

    public bool IsSlowerThanCodec => Volatile.Read(ref _isSlowerThanCodec);

    public void Add(long bytes, long ticks)
    {
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

    private static void Move(ref double meanBytes, ref double meanNanoseconds, double bytes, double nanoseconds)
    {
        var weight = meanBytes == 0 ? 1 : Weight;
        meanBytes += (bytes - meanBytes) * weight;
        meanNanoseconds += (nanoseconds - meanNanoseconds) * weight;
    }
}
