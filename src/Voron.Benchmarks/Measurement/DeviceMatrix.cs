using Microsoft.Win32.SafeHandles;

namespace Voron.Benchmarks.Measurement;

/// <summary>Measures durable unbuffered writes of several sizes, several at a time, into files of several states.</summary>
internal static class DeviceMatrix
{
    private const long FileBytes = 64 << 20;
    private static readonly int[] Sizes = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];
    private static readonly int[] Depths = [1, 2, 4];

    /// <summary>The number of combinations that <see cref="Run"/> measures.</summary>
    public static int Cells => Enum.GetValues<FileState>().Length * Sizes.Length * Depths.Length;

    /// <exception cref="BenchmarkException">The directory's file system has no unbuffered write-through.</exception>
    public static IEnumerable<DeviceMatrixCell> Run(string directory, TimeSpan timePerCell)
    {
        using var file = new ProbeFile(directory, "device-matrix", FileBytes);
        foreach (var state in Enum.GetValues<FileState>())
        {
            foreach (var (size, depth) in Sizes.SelectMany(size => Depths.Select(depth => (size, depth))))
            {
                if (state != FileState.Recycled)
                    file.Create(state);
                using var handle = file.OpenUnbuffered();
                yield return Measure(handle, state, size, depth, FileBytes, timePerCell);
            }
        }
    }

    /// <summary>Each thread has one write in flight. Together they write the file from its start, as the engine writes a journal.</summary>
    public static DeviceMatrixCell Measure(SafeFileHandle handle, FileState state, int size, int depth, long fileBytes, TimeSpan time)
    {
        using var block = new NoiseBlock(size);
        var histograms = new LatencyHistogram[depth];
        long next = 0;
        var started = Stopwatch.GetTimestamp();
        ParallelCallers.Run(depth, thread =>
        {
            var histogram = histograms[thread] = new LatencyHistogram();
            while (Stopwatch.GetElapsedTime(started) < time)
            {
                var offset = Interlocked.Add(ref next, size) - size;

                // A fresh or preallocated file must not be overwritten: it would no longer be in that state.
                if (offset + size > fileBytes && state is (FileState.Fresh or FileState.Preallocated))
                    break;
                var began = Stopwatch.GetTimestamp();
                RandomAccess.Write(handle, block.First(size), offset % fileBytes);
                histogram.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
            }
        });
        var seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        for (var i = 1; i < depth; i++)
            histograms[0].Add(histograms[i]);
        var writes = histograms[0].Count;
        return new DeviceMatrixCell(state, size, depth, writes, writes / seconds, writes * (double)size / seconds / 1e6, histograms[0].Summarise());
    }
}

/// <summary>The writes of one size, at one depth, into a file of one state.</summary>
internal sealed record DeviceMatrixCell(
    FileState State, int WriteBytes, int InFlight, long Writes, double WritesPerSecond, double MegabytesPerSecond, LatencySummary? Latency);
