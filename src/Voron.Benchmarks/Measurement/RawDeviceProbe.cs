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
    private const int FileBytes = 64 << 20;
    private const int ChunkBytes = 1 << 20;
    private const int Alignment = 4096;
    private const int WarmUpWrites = 256;
    private const FileOptions WindowsNoBuffering = (FileOptions)0x20000000;

    private static readonly int[] WriteSizes = [4 << 10, 16 << 10, 64 << 10];
    private static readonly TimeSpan TimePerSize = TimeSpan.FromMilliseconds(700);

    /// <exception cref="BenchmarkException">The directory's file system has no unbuffered write-through.</exception>
    public static IReadOnlyList<ProbeResult> Run(string directory)
    {
        string path = Path.Combine(directory, $"raw-device-{Environment.ProcessId}.probe");
        byte* block = (byte*)NativeMemory.AlignedAlloc(ChunkBytes, Alignment);
        try
        {
            // Not zeros while measuring: some devices treat zeros as a special case.
            Random.Shared.NextBytes(new Span<byte>(block, ChunkBytes));
            Prepare(path);
            using SafeFileHandle handle = OpenUnbuffered(path);
            return Array.ConvertAll(WriteSizes, size => Measure(handle, block, size));
        }
        finally
        {
            NativeMemory.AlignedFree(block);
            File.Delete(path);
        }
    }

    private static void Prepare(string path)
    {
        using SafeFileHandle handle = File.OpenHandle(path, FileMode.Create, FileAccess.ReadWrite, preallocationSize: FileBytes);
        byte[] zeros = new byte[ChunkBytes];
        for (long offset = 0; offset < FileBytes; offset += ChunkBytes)
            RandomAccess.Write(handle, zeros, offset);
        RandomAccess.FlushToDisk(handle);
    }

    private static SafeFileHandle OpenUnbuffered(string path)
    {
        if (OperatingSystem.IsWindows())
            return File.OpenHandle(path, FileMode.Open, FileAccess.ReadWrite, options: FileOptions.WriteThrough | WindowsNoBuffering);
        if (!OperatingSystem.IsLinux())
            throw new BenchmarkException("The raw device probe knows Linux and Windows only.");
        int descriptor = LinuxFile.OpenUnbuffered(path);
        if (descriptor < 0)
        {
            string reason = Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError());
            throw new BenchmarkException($"{path}: no unbuffered write-through here ({reason}).");
        }
        return new SafeFileHandle(descriptor, ownsHandle: true);
    }

    private static ProbeResult Measure(SafeFileHandle handle, byte* block, int size)
    {
        var histogram = new LatencyHistogram();
        long offset = 0;
        for (int i = 0; i < WarmUpWrites; i++)
            WriteOnce(handle, block, size, ref offset);

        long started = Stopwatch.GetTimestamp();
        long last = started;
        while (Stopwatch.GetElapsedTime(started, last) < TimePerSize)
        {
            WriteOnce(handle, block, size, ref offset);
            long now = Stopwatch.GetTimestamp();
            histogram.Record(Clock.Nanoseconds(last, now));
            last = now;
        }
        double seconds = Stopwatch.GetElapsedTime(started, last).TotalSeconds;
        long writes = histogram.Count;
        return new ProbeResult(size, writes, seconds * 1e6 / writes, writes * (double)size / seconds / 1e6, histogram.Summarise()!);
    }

    private static void WriteOnce(SafeFileHandle handle, byte* block, int size, ref long offset)
    {
        RandomAccess.Write(handle, new ReadOnlySpan<byte>(block, size), offset);
        offset += size;
        if (offset + size > FileBytes)
            offset = 0;
    }
}

internal sealed record ProbeResult(
    int WriteBytes, long Writes, double MicrosecondsPerWrite, double MegabytesPerSecond, LatencySummary Latency);
