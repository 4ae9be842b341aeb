using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>Timestamp differences in nanoseconds: a <see cref="TimeSpan"/> would cut them to steps of 100.</summary>
internal static class Clock
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    public static long Nanoseconds(long fromTimestamp, long toTimestamp) => (long)((toTimestamp - fromTimestamp) * NanosecondsPerTick);
}
