namespace Voron.Tests.Crashes;

/// <summary>Runs crash tests on several threads until there have been enough images.</summary>
internal static class CrashHunt
{
    /// <summary>The seed that was asked for, or a new one.</summary>
    public static int Seed => int.TryParse(Environment.GetEnvironmentVariable("VORON_SEED"), out var given) ? given : Environment.TickCount & 0xFFFFFFF;

    /// <summary>Each run has a seed of its own, one more than the run before; a failure names it.</summary>
    /// <param name="seed">Where the seeds of the runs begin.</param>
    /// <param name="images">How many; with a disk that leaves garbage, how many that have some.</param>
    /// <param name="threads">How many at a time.</param>
    /// <param name="disk">What power cuts may leave.</param>
    /// <exception cref="CrashViolationException">The engine has failed; the seed given starts with that run.</exception>
    public static CrashCounts Run(int seed, int images, int threads, CrashDisk disk = CrashDisk.Any)
    {
        var counts = new CrashCounts();
        var next = seed - 1;
        CrashViolationException? failure = null;
        bool IsEnough() => Volatile.Read(ref disk == CrashDisk.Any ? ref counts.Images : ref counts.WithGarbage) >= images;
        void Work()
        {
            while (Volatile.Read(ref failure) == null && !IsEnough())
            {
                var runSeed = Interlocked.Increment(ref next);
                var own = new CrashCounts();
                try
                {
                    RunOne(runSeed, own, disk);
                }
                catch (CrashViolationException e)
                {
                    Interlocked.CompareExchange(ref failure, e, null);
                }

                lock (counts)
                    counts.Add(own);
            }
        }

        var workers = Enumerable.Range(0, threads).Select(_ => new Thread(Work, 16 << 20)).ToList();
        workers.ForEach(worker => worker.Start());
        workers.ForEach(worker => worker.Join());
        return failure == null ? counts : throw new CrashViolationException($"{failure.Message} After {counts}.", failure);
    }

    private static void RunOne(int seed, CrashCounts counts, CrashDisk disk)
    {
        var random = new Random(seed);
        try
        {
            new CrashChecker(random, counts) { Disk = disk }.Run(random.Next(8, 28));
        }
        catch (Exception e)
        {
            throw new CrashViolationException($"VORON_SEED={seed}: {(e is CrashViolationException ? e.Message : e.GetType().Name + ": " + e.Message)}", e);
        }
    }
}
