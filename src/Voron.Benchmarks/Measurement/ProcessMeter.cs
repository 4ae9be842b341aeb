using System.Diagnostics;
using System.Globalization;

namespace Voron.Benchmarks.Measurement;

/// <summary>What this process used between <see cref="Start"/> and <see cref="Stop"/>: all of its threads together.</summary>
internal sealed class ProcessMeter
{
    private readonly long _startTimestamp;
    private readonly TimeSpan _startCpu;
    private readonly long _startAllocatedBytes;
    private readonly int _startGen0;
    private readonly int _startGen1;
    private readonly int _startGen2;

    private ProcessMeter()
    {
        // What the preparation left behind must not be collected on the measured time.
        GC.Collect();
        GC.WaitForPendingFinalizers();
        _startGen0 = GC.CollectionCount(0);
        _startGen1 = GC.CollectionCount(1);
        _startGen2 = GC.CollectionCount(2);
        _startAllocatedBytes = GC.GetTotalAllocatedBytes(precise: true);
        _startCpu = CpuTime();
        _startTimestamp = Stopwatch.GetTimestamp();
    }

    public static ProcessMeter Start() => new();

    public ProcessUsage Stop()
    {
        double wallSeconds = Stopwatch.GetElapsedTime(_startTimestamp).TotalSeconds;
        double cpuSeconds = (CpuTime() - _startCpu).TotalSeconds;
        long allocatedBytes = GC.GetTotalAllocatedBytes(precise: true) - _startAllocatedBytes;

        // A generation's count includes the collections of older ones.
        int gen2 = GC.CollectionCount(2) - _startGen2;
        int gen1 = GC.CollectionCount(1) - _startGen1 - gen2;
        int gen0 = GC.CollectionCount(0) - _startGen0 - gen1 - gen2;
        return new ProcessUsage(wallSeconds, cpuSeconds, allocatedBytes, gen0, gen1, gen2);
    }

    /// <summary>Bytes this process sent towards the block layer, or null where the system does not say.</summary>
    public static long? ReadBytesWritten()
    {
        try
        {
            foreach (string line in File.ReadLines("/proc/self/io"))
            {
                if (line.StartsWith("write_bytes:", StringComparison.Ordinal))
                    return long.Parse(line.AsSpan("write_bytes:".Length), NumberStyles.AllowLeadingWhite, CultureInfo.InvariantCulture);
            }
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            // Some containers hide the file; the column then says n/a.
        }
        return null;
    }

    private static TimeSpan CpuTime()
    {
        using var process = Process.GetCurrentProcess();
        return process.TotalProcessorTime;
    }
}

internal sealed record ProcessUsage(double WallSeconds, double CpuSeconds, long AllocatedBytes, int Gen0, int Gen1, int Gen2);
