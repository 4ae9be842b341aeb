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

/// <summary>Elapsed time, processor time of all threads in own code and in the system, and managed bytes of all threads.</summary>
internal sealed record ProcessUsage(double WallSeconds, double UserSeconds, double SystemSeconds, long AllocatedBytes)
{
    public double CpuSeconds => UserSeconds + SystemSeconds;
}

/// <summary>The bytes that this process has written.</summary>
internal static class ProcessWrites
{
    private const string Field = "wchar: ";

    // Not "write_bytes": the kernel counts large parts of the page cache there, of which less is written.
    public static double Bytes()
    {
        var line = File.ReadLines("/proc/self/io").First(line => line.StartsWith(Field, StringComparison.Ordinal));
        return long.Parse(line.AsSpan(Field.Length), CultureInfo.InvariantCulture);
    }
}

/// <summary>Memory of this process. Anonymous memory is neither mapped from a file nor shared; null if the system does not report it.</summary>
internal sealed record MemoryUse(long ResidentBytes, long PeakResidentBytes, long? AnonymousBytes, long ManagedBytes)
{
    public static MemoryUse Read()
    {
        using var process = Process.GetCurrentProcess();
        return new MemoryUse(process.WorkingSet64, process.PeakWorkingSet64, ReadAnonymous(), GC.GetTotalMemory(forceFullCollection: false));
    }

    private static long? ReadAnonymous()
    {
        const string Field = "RssAnon:";
        const string StatusFile = "/proc/self/status";
        var line = File.Exists(StatusFile)
            ? File.ReadLines(StatusFile).FirstOrDefault(text => text.StartsWith(Field, StringComparison.Ordinal))
            : null;
        return line is null
            ? null
            : long.Parse(line.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries)[1], CultureInfo.InvariantCulture) << 10;
    }
}
