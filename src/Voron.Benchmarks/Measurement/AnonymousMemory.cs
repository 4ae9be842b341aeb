namespace Voron.Benchmarks.Measurement;

/// <summary>Watches the memory of this process that is mapped from no file.</summary>
internal static class AnonymousMemory
{
    private static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(10);

    /// <summary>Runs an operation.</summary>
    /// <returns>
    /// The most bytes by which anonymous memory was above that before the operation, managed garbage included. It is looked at every 10 ms.
    /// </returns>
    /// <exception cref="BenchmarkException">The system does not report it.</exception>
    public static async Task<long> GrowthAsync(Func<Task> operation)
    {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);
        var before = Read();
        var most = before;
        var running = Task.Run(operation);
        while (await Task.WhenAny(running, Task.Delay(Interval)).ConfigureAwait(false) != running)
            most = Math.Max(most, Read());
        await running.ConfigureAwait(false);
        return Math.Max(most, Read()) - before;
    }

    private static long Read() =>
        MemoryUse.Read().AnonymousBytes ?? throw new BenchmarkException("This system does not report a process's anonymous memory: run this on Linux.");
}
