using System.Diagnostics;
using System.Globalization;

namespace Voron.Benchmarks.Measurement;

/// <summary>Memory of this process. Anonymous memory is neither mapped from a file nor shared; null if the system does not report it.</summary>
internal sealed record MemoryUse(long ResidentBytes, long PeakResidentBytes, long? AnonymousBytes, long ManagedBytes)
{
    public static MemoryUse Read()
    {
        using var process = Process.GetCurrentProcess();
        return new MemoryUse(
            process.WorkingSet64, process.PeakWorkingSet64, ReadAnonymous(), GC.GetTotalMemory(forceFullCollection: false));
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
