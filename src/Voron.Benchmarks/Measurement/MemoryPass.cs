namespace Voron.Benchmarks.Measurement;

/// <summary>
/// Adds up values in this process's own memory, in the order in which a workload read large values. This is the cost of reading without
/// an engine and without a copy.
/// </summary>
internal static unsafe class MemoryPass
{
    private const long MaxBytes = 1L << 30;
    private const int Alignment = 4096;

    /// <summary>Returns millions of bytes of values per second.</summary>
    public static double Run(RunRequest request)
    {
        var valueBytes = request.Workload.ValueBytes;
        var items = Math.Clamp(MaxBytes / valueBytes, 1, request.Items);
        var memory = (byte*)NativeMemory.AlignedAlloc((nuint)(items * valueBytes), Alignment);
        try
        {
            // Writes every page, because the system would map all untouched pages to one page of zeros.
            new Span<byte>(memory, (int)Math.Min(int.MaxValue, items * valueBytes)).Fill(0x5A);
            Pass(memory, request, items, valueBytes);
            var started = Stopwatch.GetTimestamp();
            Pass(memory, request, items, valueBytes);
            return (double)request.Operations * valueBytes / Stopwatch.GetElapsedTime(started).TotalSeconds / 1e6;
        }
        finally
        {
            NativeMemory.AlignedFree(memory);
        }
    }

    private static void Pass(byte* memory, RunRequest request, long items, int valueBytes)
    {
        ContentChecksum sum = default;
        for (long i = 0; i < request.Operations; i++)
        {
            var item = ItemGenerator.PickItem(i, request.Round, items);
            sum.AddWhole(new ReadOnlySpan<byte>(memory + (item * valueBytes), valueBytes));
        }
        GC.KeepAlive(sum.Sum);
    }
}
