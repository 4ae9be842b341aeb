using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// How fast the device itself takes durable sequential writes: unbuffered, write-through, into a file whose blocks were
/// allocated, written and synced before. The ceiling for every engine that commits with one write.
/// </summary>
internal static unsafe class RawDeviceProbe
{
    private const long FileBytes = 64 << 20;
    private const long QuickFileBytes = 16 << 20;
    private const int ChunkBytes = 1 << 20;
    private const int Alignment = 4096;
    private const FileOptions WindowsNoBuffering = (FileOptions)0x20000000;

    private static readonly int[] WriteSizes = [4 << 10, 16 << 10, 64 << 10];
    private static readonly int[] QuickWriteSizes = [4 << 10, 32 << 10, 1 << 20];
    private static readonly TimeSpan TimePerSize = TimeSpan.FromMilliseconds(700);
    private static readonly TimeSpan QuickTimePerSize = TimeSpan.FromMilliseconds(120);

    /// <exception cref="BenchmarkException">The directory's file system has no unbuffered write-through.</exception>
    public static IReadOnlyList<ProbeResult> Run(string directory) => Run(directory, WriteSizes, FileBytes, TimePerSize);

    /// <summary>A third of a second, to stand before a single run. Empty where there is no unbuffered write-through.</summary>
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

    /// <summary>What a durable write of so many bytes takes, between or beyond the sizes that were probed; null when none was.</summary>
    public static double? MicrosecondsFor(IReadOnlyList<ProbeResult> probes, double bytes)
    {
        ProbeResult[] sorted = [.. probes.OrderBy(probe => probe.WriteBytes)];
        if (sorted.Length == 0)
            return null;
        if (bytes <= sorted[0].WriteBytes)
            return sorted[0].MicrosecondsPerWrite;
        for (int i = 1; i < sorted.Length; i++)
        {
            ProbeResult low = sorted[i - 1];
            ProbeResult high = sorted[i];
            if (bytes > high.WriteBytes)
                continue;
            double part = (bytes - low.WriteBytes) / (high.WriteBytes - low.WriteBytes);
            return low.MicrosecondsPerWrite + (part * (high.MicrosecondsPerWrite - low.MicrosecondsPerWrite));
        }
        return sorted[^1].MicrosecondsPerWrite * bytes / sorted[^1].WriteBytes;
    }

    private static ProbeResult[] Run(string directory, int[] sizes, long fileBytes, TimeSpan timePerSize)
    {
        string path = Path.Combine(directory, $"raw-device-{Environment.ProcessId}.probe");
        byte* block = (byte*)NativeMemory.AlignedAlloc(ChunkBytes, Alignment);
        try
        {
            // Not zeros while measuring: some devices treat zeros as a special case.
            Random.Shared.NextBytes(new Span<byte>(block, ChunkBytes));
            Prepare(path, fileBytes);
            using SafeFileHandle handle = OpenUnbuffered(path);
            return Array.ConvertAll(sizes, size => Measure(handle, block, size, fileBytes, timePerSize));
        }
        finally
        {
            NativeMemory.AlignedFree(block);
            File.Delete(path);
        }
    }

    /// <summary>A file whose blocks are allocated, written and synced.</summary>
    internal static void Prepare(string path, long fileBytes)
    {
        using SafeFileHandle handle = File.OpenHandle(path, FileMode.Create, FileAccess.ReadWrite, preallocationSize: fileBytes);
        byte[] zeros = new byte[ChunkBytes];
        for (long offset = 0; offset < fileBytes; offset += ChunkBytes)
            RandomAccess.Write(handle, zeros, offset);
        RandomAccess.FlushToDisk(handle);
    }

    internal static SafeFileHandle OpenUnbuffered(string path)
    {
        if (OperatingSystem.IsWindows())
            return File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite, options: FileOptions.WriteThrough | WindowsNoBuffering);
        if (!OperatingSystem.IsLinux())
            throw new BenchmarkException("The raw device probe knows Linux and Windows only.");
        int descriptor = LinuxCalls.OpenUnbuffered(path);
        if (descriptor < 0)
        {
            string reason = Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError());
            throw new BenchmarkException($"{path}: no unbuffered write-through here ({reason}).");
        }
        return new SafeFileHandle(descriptor, ownsHandle: true);
    }

    private static ProbeResult Measure(SafeFileHandle handle, byte* block, int size, long fileBytes, TimeSpan time)
    {
        var histogram = new LatencyHistogram();
        long offset = 0;

        // The first tenth warms up.
        long warming = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(warming) < time / 10)
            WriteOnce(handle, block, size, fileBytes, ref offset);
        long started = Stopwatch.GetTimestamp();
        long last = started;
        while (Stopwatch.GetElapsedTime(started, last) < time)
        {
            WriteOnce(handle, block, size, fileBytes, ref offset);
            long now = Stopwatch.GetTimestamp();
            histogram.Record(Clock.Nanoseconds(last, now));
            last = now;
        }
        double seconds = Stopwatch.GetElapsedTime(started, last).TotalSeconds;
        long writes = histogram.Count;
        return new ProbeResult(size, writes, seconds * 1e6 / writes, writes * (double)size / seconds / 1e6, histogram.Summarise()!);
    }

    private static void WriteOnce(SafeFileHandle handle, byte* block, int size, long fileBytes, ref long offset)
    {
        RandomAccess.Write(handle, new ReadOnlySpan<byte>(block, size), offset);
        offset += size;
        if (offset + size > fileBytes)
            offset = 0;
    }
}

internal sealed record ProbeResult(
    int WriteBytes, long Writes, double MicrosecondsPerWrite, double MegabytesPerSecond, LatencySummary Latency);
