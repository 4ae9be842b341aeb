using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>Measures what all threads of this process use between <see cref="Start"/> and <see cref="Stop"/>.</summary>
internal sealed class ProcessMeter
{
    private readonly long _startTimestamp;
    private readonly TimeSpan _startCpu;
    private readonly long _startAllocatedBytes;

    private ProcessMeter()
    {
        // Garbage from the preparation must not be collected during the measurement.
        GC.Collect();
        GC.WaitForPendingFinalizers();
        _startAllocatedBytes = GC.GetTotalAllocatedBytes(precise: true);
        _startCpu = CpuTime();
        _startTimestamp = Stopwatch.GetTimestamp();
    }

    public static ProcessMeter Start() => new();

    public ProcessUsage Stop()
    {
        var wallSeconds = Stopwatch.GetElapsedTime(_startTimestamp).TotalSeconds;
        var cpuSeconds = (CpuTime() - _startCpu).TotalSeconds;
        return new ProcessUsage(wallSeconds, cpuSeconds, GC.GetTotalAllocatedBytes(precise: true) - _startAllocatedBytes);
    }

    private static TimeSpan CpuTime()
    {
        using var process = Process.GetCurrentProcess();
        return process.TotalProcessorTime;
    }
}

internal sealed record ProcessUsage(double WallSeconds, double CpuSeconds, long AllocatedBytes);
