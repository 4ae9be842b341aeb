using System.Runtime.CompilerServices;

namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Measures reads at random places of a buffer, each of which depends on the one before, with one thread and with several. No engine
/// that reads at random can scale better than memory of that size does here.
/// </summary>
internal static class MemoryProbe
{
    private const int StepsPerThread = 2_000_000;

    public static MemoryProbeResult Run(long bytes, int threads, int steps = StepsPerThread)
    {
        var buffer = GC.AllocateUninitializedArray<ulong>((int)Math.Clamp(bytes / sizeof(ulong), 1024, 1 << 28));
        for (var i = 0; i < buffer.Length; i++)
            buffer[i] = (ulong)i * 0x9E37_79B9_7F4A_7C15;
        return new MemoryProbeResult((long)buffer.Length * sizeof(ulong), threads, Rate(buffer, 1, steps), Rate(buffer, threads, steps));
    }

    private static double Rate(ulong[] buffer, int threads, int steps)
    {
        long started = 0;
        var sums = new ulong[threads];
        ParallelCallers.Run(threads, thread =>
        {
            Interlocked.CompareExchange(ref started, Stopwatch.GetTimestamp(), 0);
            sums[thread] = Walk(buffer, (ulong)thread + 1, steps);
        });
        GC.KeepAlive(sums);
        return (double)steps * threads / Stopwatch.GetElapsedTime(started).TotalSeconds;
    }

    /// <summary>The next place depends on the value read, so the processor cannot read ahead.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static ulong Walk(ulong[] buffer, ulong state, int steps)
    {
        for (var i = 0; i < steps; i++)
        {
            var place = Math.BigMul(state, (ulong)buffer.Length, out var rest);
            state = (rest ^ buffer[place] ^ (ulong)i) * 0xD6E8_FEB8_6659_FD93;
        }
        return state;
    }
}

/// <summary>Dependent reads per second.</summary>
internal sealed record MemoryProbeResult(long Bytes, int Threads, double OneThreadPerSecond, double AllThreadsPerSecond)
{
    public double Scaling => AllThreadsPerSecond / OneThreadPerSecond;
}
