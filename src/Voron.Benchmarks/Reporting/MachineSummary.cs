using System.Runtime.InteropServices;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Reporting;

/// <summary>The machine on which figures were measured.</summary>
internal sealed record MachineSummary(
    string OperatingSystem, string Runtime, string Processor, int Cores, long MemoryBytes, string FileSystem, string Device)
{
    private const string Unknown = "unknown";

    public static MachineSummary Describe(string directory) => new(
        RuntimeInformation.OSDescription,
        RuntimeInformation.FrameworkDescription,
        ProcessorName(),
        Environment.ProcessorCount,
        GC.GetGCMemoryInfo().TotalAvailableMemoryBytes,
        MountEntry.Find(directory)?.FileSystem ?? new DriveInfo(Path.GetFullPath(directory)).DriveFormat,
        BlockDevice.Find(directory)?.Name ?? "none with counters");

    public override string ToString() =>
        $"{OperatingSystem}; {Runtime}; {Processor}, {Cores} cores, {Figures.Bytes(MemoryBytes)}; {FileSystem} on {Device}";

    private static string ProcessorName()
    {
        const string CpuInfo = "/proc/cpuinfo";
        var line = File.Exists(CpuInfo)
            ? File.ReadLines(CpuInfo).FirstOrDefault(text => text.StartsWith("model name", StringComparison.Ordinal))
            : Environment.GetEnvironmentVariable("PROCESSOR_IDENTIFIER");
        return line?[(line.IndexOf(':', StringComparison.Ordinal) + 1)..].Trim() ?? Unknown;
    }
}
