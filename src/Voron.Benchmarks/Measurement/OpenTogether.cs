namespace Voron.Benchmarks.Measurement;

/// <summary>What environments on disk take of the process that are open at once, with default options; each for one environment.</summary>
/// <param name="What">The work since the state before.</param>
internal sealed record OpenTogether(
    string What, double Milliseconds, double NativeBytes, double ResidentBytes, double ManagedBytes, double AddressBytes, double Threads)
{
    private static readonly TimeSpan UntilIdle = TimeSpan.FromSeconds(50);

    /// <summary>Opens environments, writes one item to each, waits until they are idle, and closes them.</summary>
    /// <param name="directory">A directory that does not exist.</param>
    public static List<OpenTogether> Measure(string directory, int count)
    {
        var open = new List<StorageEnvironment>(count);
        var before = Use.Read([]);
        var states = new List<OpenTogether>();

        void Step(string what, Action step)
        {
            var began = Stopwatch.GetTimestamp();
            step();
            var elapsed = Stopwatch.GetElapsedTime(began).TotalMilliseconds;
            var now = Use.Read(open);
            states.Add(new OpenTogether(
                what, elapsed / count, (now.Native - before.Native) / count, (now.Resident - before.Resident) / count,
                (now.Managed - before.Managed) / count, (now.Addresses - before.Addresses) / count, (now.Threads - before.Threads) / count));
        }

        Step("opened", () => open.AddRange(Enumerable.Range(0, count).Select(i => StorageEnvironment.Open(Path.Combine(directory, $"{i}")))));
        Step("one commit", () => open.ForEach(Put));
        Step("idle", () => Thread.Sleep(UntilIdle));
        Step("closed", () =>
        {
            open.ForEach(environment => environment.Dispose());
            open.Clear();
        });
        return states;
    }

    private static void Put(StorageEnvironment environment)
    {
        using var writing = environment.BeginWrite();
        writing.CreateTree("items").Put("key"u8, new byte[100]);
        writing.Commit();
    }

    private readonly record struct Use(double Native, double Resident, double Managed, double Addresses, double Threads)
    {
        public static Use Read(List<StorageEnvironment> open)
        {
            var managed = GC.GetTotalMemory(forceFullCollection: true);
            using var process = Process.GetCurrentProcess();
            return new Use(
                open.Sum(environment => environment.GetStatistics().NativeMemoryBytes), process.WorkingSet64, managed, process.VirtualMemorySize64,
                process.Threads.Count);
        }
    }
}
