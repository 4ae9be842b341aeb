using System.Diagnostics;

namespace Voron.Journal;

/// <summary>What a byte more costs the device, learnt from the writes as they come, so as to know whether compressing pays.</summary>
/// <remarks>
/// A write costs a fixed time and a time for each byte. Means of small and of large writes, each moving, give the difference.
/// Changed by whoever writes, one at a time; read by anybody.
/// </remarks>
internal sealed class DeviceSpeed
{
    private const long SmallBytes = 8 << 10;
    private const long LargeBytes = 24 << 10;
    private const double Weight = 1.0 / 64;

    /// <summary>
    /// A codec of 0.9 bytes a nanosecond that takes a third off pays when the device needs more than this for a byte.
    /// </summary>
    private const double CodecNanosecondsPerByte = 3.3;

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

        // Both kinds have to be known: most of the time of a single write is not the bytes'.
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
