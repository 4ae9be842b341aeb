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
    private const long SequentialFileBytes = 16 << 20;
    private const int LargestWriteBytes = 1 << 20;

    private static readonly int[] WriteSizes = [4 << 10, 16 << 10, 64 << 10];
    private static readonly TimeSpan TimePerSize = TimeSpan.FromMilliseconds(700);
    private static readonly TimeSpan SequentialTime = TimeSpan.FromMilliseconds(200);

    /// <exception cref="BenchmarkException">The directory's file system has no unbuffered write-through.</exception>
    public static IReadOnlyList<ProbeResult> Run(string directory) => Run(directory, WriteSizes, FileBytes, TimePerSize);

    /// <summary>Returns the rate of large writes, or null where there is no unbuffered write-through.</summary>
    public static double? SequentialMegabytesPerSecond(string directory)
    {
        try
        {
            return Run(directory, [LargestWriteBytes], SequentialFileBytes, SequentialTime)[0].MegabytesPerSecond;
        }
        catch (Exception error) when (error is BenchmarkException or IOException)
        {
            return null;
        }
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
