using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using Voron.Benchmarks.Workloads;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// What the device and its file system do to durable writes while somebody else writes a file through the page cache and syncs
/// it, without any engine: one thread writes records, the other does what a flusher cannot do without. Commits beside a flush
/// are held against it.
/// </summary>
internal static unsafe class FlushingProbe
{
    private const long RecordFileBytes = 64 << 20;
    private const long DataFileBytes = 256 << 20;
    private const int ChunkBytes = 1 << 20;
    private const int Alignment = 4096;

    public static TimeSpan Time { get; set; } = TimeSpan.FromSeconds(2);

    /// <param name="directory">On the device in question.</param>
    /// <param name="recordBytes">Bytes of a durable write; made up to whole blocks.</param>
    /// <param name="pauseNanoseconds">Between two of them: what an engine does between its commits.</param>
    /// <param name="writeBytes">Bytes of one buffered write.</param>
    /// <param name="bytesBetweenSyncs">Buffered bytes after which the file is synced.</param>
    /// <returns>Null where there is no unbuffered write-through.</returns>
    public static FlushingProbeResult? Run(
        string directory, long recordBytes, long pauseNanoseconds, int writeBytes, long bytesBetweenSyncs)
    {
        int size = (int)Math.Clamp((recordBytes + Alignment - 1) / Alignment * Alignment, Alignment, ChunkBytes);
        string records = Path.Combine(directory, $"flushing-records-{Environment.ProcessId}.probe");
        string data = Path.Combine(directory, $"flushing-data-{Environment.ProcessId}.probe");
        byte* block = (byte*)NativeMemory.AlignedAlloc(ChunkBytes, Alignment);
        try
        {
            Random.Shared.NextBytes(new Span<byte>(block, ChunkBytes));
            RawDeviceProbe.Prepare(records, RecordFileBytes);
            RawDeviceProbe.Prepare(data, DataFileBytes);
            using SafeFileHandle recordFile = RawDeviceProbe.OpenUnbuffered(records);
            using SafeFileHandle dataFile = File.OpenHandle(data, FileMode.Open, FileAccess.ReadWrite);
            return Measure(recordFile, dataFile, block, size, pauseNanoseconds, Math.Clamp(writeBytes, Alignment, ChunkBytes), bytesBetweenSyncs);
        }
        catch (Exception error) when (error is BenchmarkException or IOException)
        {
            return null;
        }
        finally
        {
            NativeMemory.AlignedFree(block);
            File.Delete(records);
            File.Delete(data);
        }
    }

    private static FlushingProbeResult Measure(
        SafeFileHandle records, SafeFileHandle data, byte* block, int size, long pauseNanoseconds, int writeBytes, long bytesBetweenSyncs)
    {
        var histogram = new LatencyHistogram();
        nint address = (nint)block;
        long started = Stopwatch.GetTimestamp();
        long buffered = 0;
        ParallelCallers.Run(2, caller =>
        {
            if (caller == 0)
                WriteRecords(records, (byte*)address, size, pauseNanoseconds, started, histogram);
            else
                buffered = WriteAndSync(data, (byte*)address, writeBytes, bytesBetweenSyncs, started);
        });
        double seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
        return new FlushingProbeResult(size, histogram.Count, buffered / seconds / 1e6, histogram.Summarise()!);
    }

    private static void WriteRecords(
        SafeFileHandle file, byte* block, int size, long pauseNanoseconds, long started, LatencyHistogram histogram)
    {
        long offset = 0;
        do
        {
            long began = Stopwatch.GetTimestamp();
            RandomAccess.Write(file, new ReadOnlySpan<byte>(block, size), offset);
            long ended = Stopwatch.GetTimestamp();
            histogram.Record(Clock.Nanoseconds(began, ended));
            offset = offset + (2 * size) > RecordFileBytes ? 0 : offset + size;

            // Busy, as an engine is between its commits: a sleep would give the processor to the other thread.
            while (Clock.Nanoseconds(ended, Stopwatch.GetTimestamp()) < pauseNanoseconds)
                Thread.SpinWait(1);
        }
        while (Stopwatch.GetElapsedTime(started) < Time);
    }

    /// <summary>In rising order from the start of the file, again and again.</summary>
    private static long WriteAndSync(SafeFileHandle file, byte* block, int writeBytes, long bytesBetweenSyncs, long started)
    {
        long offset = 0;
        long unsynced = 0;
        long total = 0;
        do
        {
            RandomAccess.Write(file, new ReadOnlySpan<byte>(block, writeBytes), offset);
            offset = offset + (2 * writeBytes) > DataFileBytes ? 0 : offset + writeBytes;
            total += writeBytes;
            unsynced += writeBytes;
            if (unsynced < bytesBetweenSyncs)
                continue;
            LinuxCalls.SyncData(file);
            unsynced = 0;
        }
        while (Stopwatch.GetElapsedTime(started) < Time);
        return total;
    }
}

/// <param name="RecordBytes">Bytes of each durable write.</param>
/// <param name="Records">How many there were.</param>
/// <param name="BufferedMegabytesPerSecond">Written and synced beside them.</param>
/// <param name="Latency">Of the durable writes.</param>
internal sealed record FlushingProbeResult(int RecordBytes, long Records, double BufferedMegabytesPerSecond, LatencySummary Latency);
