using System.Diagnostics;
using Microsoft.Win32.SafeHandles;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Measures how fast the device itself takes durable sequential writes: unbuffered, write-through, into a file whose blocks are
/// allocated, written and synced. This is the upper bound for every engine that commits with one write.
/// </summary>
internal static class RawDeviceProbe
{
    private const long FileBytes = 64 << 20;
    private const long QuickFileBytes = 16 << 20;
    private const int LargestWriteBytes = 1 << 20;

    private static readonly int[] WriteSizes = [4 << 10, 16 << 10, 64 << 10];
    private static readonly int[] QuickWriteSizes = [4 << 10, 32 << 10, LargestWriteBytes];
    private static readonly TimeSpan TimePerSize = TimeSpan.FromMilliseconds(700);
    private static readonly TimeSpan QuickTimePerSize = TimeSpan.FromMilliseconds(120);

    /// <exception cref="BenchmarkException">The directory's file system has no unbuffered write-through.</exception>
    public static IReadOnlyList<ProbeResult> Run(string directory) => Run(directory, WriteSizes, FileBytes, TimePerSize);

    /// <summary>Takes a third of a second, before a single run. Returns nothing where there is no unbuffered write-through.</summary>
    public static IReadOnlyList<ProbeResult> RunQuick(string directory)
    {
        try
        {
            return Run(directory, QuickWriteSizes, QuickFileBytes, QuickTimePerSize);
        }
        catch (Exception error) when (error is BenchmarkException or IOException)
        {
            return [];
        }
    }

    /// <summary>
    /// Returns the time of a durable write of the given size, interpolated between the probed sizes or extrapolated beyond them. Null
    /// without probes.
    /// </summary>
    public static double? MicrosecondsFor(IReadOnlyList<ProbeResult> probes, double bytes)
    {
        ProbeResult[] sorted = [.. probes.OrderBy(probe => probe.WriteBytes)];
        if (sorted.Length == 0)
            return null;
        if (bytes <= sorted[0].WriteBytes)
            return sorted[0].MicrosecondsPerWrite;
        for (var i = 1; i < sorted.Length; i++)
        {
            var low = sorted[i - 1];
            var high = sorted[i];
            if (bytes > high.WriteBytes)
                continue;
            var part = (bytes - low.WriteBytes) / (high.WriteBytes - low.WriteBytes);
            return low.MicrosecondsPerWrite + (part * (high.MicrosecondsPerWrite - low.MicrosecondsPerWrite));
        }
        return sorted[^1].MicrosecondsPerWrite * bytes / sorted[^1].WriteBytes;
    }

    private static ProbeResult[] Run(string directory, int[] sizes, long fileBytes, TimeSpan timePerSize)
    {
        var path = Path.Combine(directory, $"raw-device-{Environment.ProcessId}.probe");
        try
        {
            using var block = new NoiseBlock(LargestWriteBytes);
            DeviceFile.Create(path, FileState.Zeroed, fileBytes);
            using var handle = DeviceFile.OpenUnbuffered(path);
            return Array.ConvertAll(sizes, size => Measure(handle, block, size, fileBytes, timePerSize));
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static ProbeResult Measure(SafeFileHandle handle, NoiseBlock block, int size, long fileBytes, TimeSpan time)
    {
        var histogram = new LatencyHistogram();
        long offset = 0;
        void Write()
        {
            RandomAccess.Write(handle, block.First(size), offset);
            offset += size;
            if (offset + size > fileBytes)
                offset = 0;
        }

        // The first tenth warms up.
        var warming = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(warming) < time / 10)
            Write();
        var started = Stopwatch.GetTimestamp();
        var last = started;
        while (Stopwatch.GetElapsedTime(started, last) < time)
        {
            Write();
            var now = Stopwatch.GetTimestamp();
            histogram.Record(Clock.Nanoseconds(last, now));
            last = now;
        }
        var seconds = Stopwatch.GetElapsedTime(started, last).TotalSeconds;
        var writes = histogram.Count;
        return new ProbeResult(size, writes, seconds * 1e6 / writes, writes * (double)size / seconds / 1e6, histogram.Summarise()!);
    }
}

internal sealed record ProbeResult(
    int WriteBytes, long Writes, double MicrosecondsPerWrite, double MegabytesPerSecond, LatencySummary Latency);
