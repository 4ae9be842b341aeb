using System.Diagnostics;

namespace Voron.Benchmarks.Measurement;

/// <summary>Measures what all threads of this process use between <see cref="Start"/> and <see cref="Stop"/>.</summary>
internal sealed class ProcessMeter
{
    private readonly long _startTimestamp;
    private readonly Environment.ProcessCpuUsage _startCpu;
    private readonly long _startAllocatedBytes;

    private ProcessMeter()
    {
        // Garbage from the preparation must not be collected during the measurement.
        GC.Collect();
        GC.WaitForPendingFinalizers();
        _startAllocatedBytes = GC.GetTotalAllocatedBytes(precise: true);
        _startCpu = Environment.CpuUsage;
        _startTimestamp = Stopwatch.GetTimestamp();
    }

    public static ProcessMeter Start() => new();

    public ProcessUsage Stop()
    {
        var wallSeconds = Stopwatch.GetElapsedTime(_startTimestamp).TotalSeconds;
        var cpu = Environment.CpuUsage;
        return new ProcessUsage(
            wallSeconds,
            (cpu.UserTime - _startCpu.UserTime).TotalSeconds,
            (cpu.PrivilegedTime - _startCpu.PrivilegedTime).TotalSeconds,
            GC.GetTotalAllocatedBytes(precise: true) - _startAllocatedBytes);
    }
}

/// <param name="WallSeconds">Elapsed time.</param>
/// <param name="UserSeconds">Processor time of all threads in the process's own code.</param>
/// <param name="SystemSeconds">Processor time of all threads in the operating system.</param>
/// <param name="AllocatedBytes">Managed bytes of all threads.</param>
internal sealed record ProcessUsage(double WallSeconds, double UserSeconds, double SystemSeconds, long AllocatedBytes)
{
    public double CpuSeconds => UserSeconds + SystemSeconds;
}
