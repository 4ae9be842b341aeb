using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>What the file was before it is written to.</summary>
internal enum FileState
{
    /// <summary>Empty: every write makes it longer.</summary>
    Fresh,

    /// <summary>As long as it gets, its blocks never written.</summary>
    Preallocated,

    /// <summary>Written with zeros and synced.</summary>
    Zeroed,

    /// <summary>Written with noise in this same way before.</summary>
    Recycled,
}

/// <summary>Durable unbuffered writes of several sizes, several at a time, into files of several states.</summary>
internal static unsafe class DeviceMatrix
{
    private const int Alignment = 4096;
    private const int BlockBytes = 64 << 10;
    private const long FileBytes = 64 << 20;

    public static IReadOnlyList<int> Sizes { get; } = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10];

    public static IReadOnlyList<int> Depths { get; } = [1, 2, 4];

    /// <summary>How many there are.</summary>
    public static int Cells => Enum.GetValues<FileState>().Length * Sizes.Count * Depths.Count;

    /// <exception cref="BenchmarkException">The directory's file system has no unbuffered write-through.</exception>
    public static IEnumerable<DeviceMatrixCell> Run(string directory, TimeSpan timePerCell)
    {
        string path = Path.Combine(directory, $"device-matrix-{Environment.ProcessId}.probe");
        try
        {
            foreach (FileState state in Enum.GetValues<FileState>())
            {
                foreach (int size in Sizes)
                {
                    foreach (int depth in Depths)
                    {
                        Prepare(path, state);
                        using SafeFileHandle handle = RawDeviceProbe.OpenUnbuffered(path);
                        yield return Measure(handle, state, size, depth, timePerCell);
                    }
                }
            }
        }
        finally
        {
            File.Delete(path);
        }
    }

    private static void Prepare(string path, FileState state)
    {
        if (state == FileState.Recycled && File.Exists(path) && new FileInfo(path).Length >= FileBytes)
            return;
        File.Delete(path);
        using SafeFileHandle handle = File.OpenHandle(
            path, FileMode.CreateNew, FileAccess.ReadWrite, preallocationSize: state == FileState.Fresh ? 0 : FileBytes);
        if (state is FileState.Fresh or FileState.Preallocated)
            return;
        byte[] content = new byte[1 << 20];
        if (state == FileState.Recycled)
            Random.Shared.NextBytes(content);
        for (long offset = 0; offset < FileBytes; offset += content.Length)
            RandomAccess.Write(handle, content, offset);
        RandomAccess.FlushToDisk(handle);
    }

    /// <summary>Each of the threads has one write under way; together they write the file from its start, as a journal is.</summary>
    private static DeviceMatrixCell Measure(SafeFileHandle handle, FileState state, int size, int depth, TimeSpan time)
    {
        byte* block = (byte*)NativeMemory.AlignedAlloc(BlockBytes, Alignment);
        Random.Shared.NextBytes(new Span<byte>(block, BlockBytes));
        nint address = (nint)block;
        var histograms = new LatencyHistogram[depth];
        long next = 0;
        long started = Stopwatch.GetTimestamp();
        try
        {
            ParallelCallers.Run(depth, thread =>
            {
                var histogram = histograms[thread] = new LatencyHistogram();
                while (Stopwatch.GetElapsedTime(started) < time)
                {
                    long offset = Interlocked.Add(ref next, size) - size;

                    // Only a fresh or preallocated file must not be written over: then it would be neither.
                    if (offset + size > FileBytes && state is (FileState.Fresh or FileState.Preallocated))
                        break;
                    long began = Stopwatch.GetTimestamp();
                    RandomAccess.Write(handle, new ReadOnlySpan<byte>((byte*)address, size), offset % FileBytes);
                    histogram.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
                }
            });
        }
        finally
        {
            NativeMemory.AlignedFree(block);
        }
        double seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        for (int i = 1; i < depth; i++)
            histograms[0].Add(histograms[i]);
        long writes = histograms[0].Count;
        return new DeviceMatrixCell(state, size, depth, writes, writes / seconds, writes * (double)size / seconds / 1e6, histograms[0].Summarise());
    }
}

internal sealed record DeviceMatrixCell(
    FileState State, int WriteBytes, int InFlight, long Writes, double WritesPerSecond, double MegabytesPerSecond, LatencySummary? Latency);
