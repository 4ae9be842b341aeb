using Microsoft.Win32.SafeHandles;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Measures durable writes while another thread writes a file through the page cache and syncs it, without any engine. The first thread
/// stands for commits, the second writes what a flusher has to write. Commits during a flush are compared with this.
/// </summary>
internal static class FlushingProbe
{
    private const long RecordFileBytes = 64 << 20;
    private const long DataFileBytes = 256 << 20;

    public static TimeSpan Time { get; set; } = TimeSpan.FromSeconds(2);

    /// <param name="recordBytes">Bytes of a durable write, rounded up to whole blocks.</param>
    /// <param name="pauseNanoseconds">The time between two durable writes, as an engine needs it between its commits.</param>
    /// <param name="bytesBetweenSyncs">Buffered bytes after which the file is synced.</param>
    /// <returns>Null where there is no unbuffered write-through.</returns>
    public static FlushingProbeResult? Run(string directory, long recordBytes, long pauseNanoseconds, int writeBytes, long bytesBetweenSyncs) =>
        ProbeFile.Try(() =>
        {
            const int Alignment = ProbeFile.Alignment;
            var size = (int)Math.Clamp((recordBytes + Alignment - 1) / Alignment * Alignment, Alignment, ProbeFile.LargestWriteBytes);
            var bufferedSize = Math.Clamp(writeBytes, Alignment, ProbeFile.LargestWriteBytes);
            using var block = new NoiseBlock(ProbeFile.LargestWriteBytes);
            using var records = new ProbeFile(directory, "flushing-records", RecordFileBytes).Create();
            using var data = new ProbeFile(directory, "flushing-data", DataFileBytes).Create();
            using var recordFile = records.OpenUnbuffered();
            using var dataFile = File.OpenHandle(data.Path, FileMode.Open, FileAccess.ReadWrite);
            var histogram = new LatencyHistogram();
            var computation = new Computation();
            long buffered = 0;
            var started = Stopwatch.GetTimestamp();
            ParallelCallers.Run(2, caller =>
            {
                if (caller == 0)
                    WriteRecords(recordFile, block.First(size), () => computation.Run(pauseNanoseconds), started, histogram);
                else
                    buffered = WriteAndSync(dataFile, block.First(bufferedSize), bytesBetweenSyncs, started);
            });
            var seconds = Stopwatch.GetElapsedTime(started).TotalSeconds;
            return new FlushingProbeResult(size, histogram.Count, buffered / seconds / 1e6, histogram.Summarise()!);
        });

    private static void WriteRecords(SafeFileHandle file, ReadOnlySpan<byte> record, Action pause, long started, LatencyHistogram histogram)
    {
        long offset = 0;
        do
        {
            var began = Stopwatch.GetTimestamp();
            RandomAccess.Write(file, record, offset);
            histogram.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
            offset = Next(offset, record.Length, RecordFileBytes);
            pause();
        }
        while (Stopwatch.GetElapsedTime(started) < Time);
    }

    /// <summary>Writes the file in ascending order, again and again.</summary>
    /// <returns>The number of bytes written.</returns>
    private static long WriteAndSync(SafeFileHandle file, ReadOnlySpan<byte> content, long bytesBetweenSyncs, long started)
    {
        long offset = 0;
        long unsynced = 0;
        long total = 0;
        do
        {
            RandomAccess.Write(file, content, offset);
            offset = Next(offset, content.Length, DataFileBytes);
            total += content.Length;
            unsynced += content.Length;
            if (unsynced < bytesBetweenSyncs)
                continue;
            LinuxCalls.SyncData(file);
            unsynced = 0;
        }
        while (Stopwatch.GetElapsedTime(started) < Time);
        return total;
    }

    private static long Next(long offset, int bytes, long fileBytes) => offset + (2L * bytes) > fileBytes ? 0 : offset + bytes;
}

/// <summary>The durable writes, and the rate of the buffered ones, syncs included.</summary>
internal sealed record FlushingProbeResult(int RecordBytes, long Records, double BufferedMegabytesPerSecond, LatencySummary Latency);
