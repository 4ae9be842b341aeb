using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>Converts timestamp differences to nanoseconds. A <see cref="TimeSpan"/> would round them down to multiples of 100.</summary>
internal static class Clock
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    public static long Nanoseconds(long fromTimestamp, long toTimestamp) => (long)((toTimestamp - fromTimestamp) * NanosecondsPerTick);
}
