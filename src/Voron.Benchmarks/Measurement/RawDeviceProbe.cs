namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Measures how fast the device itself takes durable sequential writes: unbuffered, write-through, into a file whose blocks are
/// allocated, written and synced. This is the upper bound for every engine that commits with one write.
/// </summary>
internal static class RawDeviceProbe
{
    private const long FileBytes = 64 << 20;
    private const long SequentialFileBytes = 16 << 20;

    private static readonly int[] WriteSizes = [4 << 10, 16 << 10, 64 << 10];
    private static readonly TimeSpan TimePerSize = TimeSpan.FromMilliseconds(700);
    private static readonly TimeSpan SequentialTime = TimeSpan.FromMilliseconds(200);

    /// <exception cref="BenchmarkException">The directory's file system has no unbuffered write-through.</exception>
    public static IReadOnlyList<ProbeResult> Run(string directory) => Run(directory, WriteSizes, FileBytes, TimePerSize);

    /// <summary>Returns the rate of large writes, or null where there is no unbuffered write-through.</summary>
    public static double? SequentialMegabytesPerSecond(string directory) =>
        ProbeFile.Try(() => Run(directory, [ProbeFile.LargestWriteBytes], SequentialFileBytes, SequentialTime))?[0].MegabytesPerSecond;

    private static ProbeResult[] Run(string directory, int[] sizes, long fileBytes, TimeSpan timePerSize)
    {
        using var file = new ProbeFile(directory, "raw-device", fileBytes).Create();
        using var handle = file.OpenUnbuffered();
        return Array.ConvertAll(sizes, size =>
        {
            // A tenth of the time warms up.
            DeviceMatrix.Measure(handle, FileState.Zeroed, size, depth: 1, fileBytes, timePerSize / 10);
            var cell = DeviceMatrix.Measure(handle, FileState.Zeroed, size, depth: 1, fileBytes, timePerSize);
            return new ProbeResult(size, cell.Writes, 1e6 / cell.WritesPerSecond, cell.MegabytesPerSecond, cell.Latency!);
        });
    }
}

/// <summary>The rate and the times of writes of one size.</summary>
internal sealed record ProbeResult(int WriteBytes, long Writes, double MicrosecondsPerWrite, double MegabytesPerSecond, LatencySummary Latency);
