using Microsoft.Win32.SafeHandles;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Measures durable writes as large as an engine's commits: in a tight loop, and with computing between them for as long as the engine
/// computes between its commits. On some machines the same write takes twice as long after a pause. Turns alternate, so that a slow
/// moment of the device affects both alike.
/// </summary>
internal static class PacedProbe
{
    private const long FileBytes = 64 << 20;
    private const int Turns = 4;

    /// <summary>Pauses of large transactions are cut to this. The device does not change any more after it.</summary>
    private const long MaxComputingNanoseconds = 100_000_000;

    private static readonly TimeSpan TightTurn = TimeSpan.FromMilliseconds(50);
    private static readonly TimeSpan ComputingTurn = TimeSpan.FromMilliseconds(150);

    /// <param name="recordBytes">Bytes that a commit makes durable. They are rounded up to whole blocks.</param>
    /// <returns>Null where there is no unbuffered write-through.</returns>
    public static PacedProbeResult? Run(string directory, double recordBytes, double computingNanoseconds) => ProbeFile.Try(() =>
    {
        var record = Math.Min(FileBytes, (long)Math.Ceiling(Math.Max(1, recordBytes) / ProbeFile.Alignment) * ProbeFile.Alignment);
        var pause = (long)Math.Clamp(computingNanoseconds, 0, MaxComputingNanoseconds);
        using var block = new NoiseBlock(ProbeFile.LargestWriteBytes);
        using var file = new ProbeFile(directory, "paced", FileBytes).Create();
        using var handle = file.OpenUnbuffered();
        var computation = new Computation();
        var writer = new RecordWriter(handle, block, record);
        var (tight, paced) = (new LatencyHistogram(), new LatencyHistogram());
        for (var turn = 0; turn < Turns; turn++)
        {
            Measure(writer, TightTurn, tight, computation, pause: 0);
            Measure(writer, ComputingTurn, paced, computation, pause);
        }
        return new PacedProbeResult(record, pause / 1e3, tight.Summarise()!, paced.Summarise()!);
    });

    private static void Measure(RecordWriter writer, TimeSpan time, LatencyHistogram latencies, Computation computation, long pause)
    {
        var started = Stopwatch.GetTimestamp();
        do
        {
            computation.Run(pause);
            var began = Stopwatch.GetTimestamp();
            writer.Write();
            latencies.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
        }
        while (Stopwatch.GetElapsedTime(started) < time);
    }

    /// <summary>Writes records one after the other, from the start of the file again when its end is reached.</summary>
    private sealed class RecordWriter(SafeFileHandle file, NoiseBlock block, long recordBytes)
    {
        private long _offset;

        public void Write()
        {
            if (_offset + recordBytes > FileBytes)
                _offset = 0;
            for (var end = _offset + recordBytes; _offset < end;)
            {
                var bytes = (int)Math.Min(end - _offset, ProbeFile.LargestWriteBytes);
                RandomAccess.Write(file, block.First(bytes), _offset);
                _offset += bytes;
            }
        }
    }
}

/// <summary>Writes in the tight loop, and writes with computing between them, which does not count.</summary>
internal sealed record PacedProbeResult(long RecordBytes, double ComputingMicroseconds, LatencySummary Tight, LatencySummary Paced);
