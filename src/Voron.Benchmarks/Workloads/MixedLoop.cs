namespace Voron.Benchmarks.Workloads;

/// <summary>Runs a writer that updates and a reader that gets at the same time. Both rates are over the time inside the engine.</summary>
internal static class MixedLoop
{
    private const int GetsPerTransaction = 1_000;

    public static void Run(BenchmarkEngine engine, RunRequest request, TimedRun run)
    {
        var time = TimeSpan.FromMilliseconds(request.Operations);
        var reading = new TimedRun(new ProgressSignal(null));
        long gets = 0;
        long puts = 0;
        var started = Stopwatch.GetTimestamp();
        ParallelCallers.Run(2, caller =>
        {
            if (caller == 0)
                puts = Write(engine, request, run, started, time);
            else
                gets = Read(engine, request, reading, started, time);
        });
        run.OperationsDone = puts;
        run.Misses += reading.Misses;
        run.ReaderOperationsPerSecond = gets * 1e9 / reading.EngineNanoseconds;
        run.Note = $"reader {run.ReaderOperationsPerSecond:N0}/s";
    }

    private static long Write(BenchmarkEngine engine, RunRequest request, TimedRun run, long started, TimeSpan time)
    {
        var count = request.Workload.ItemsPerTransaction;
        var buffer = new ItemBuffer(request.Workload.Keys, count, withValues: true);
        long done = 0;
        for (; Stopwatch.GetElapsedTime(started) < time; done += count)
        {
            WriteLoop.Fill(buffer, request, done, count);
            WriteLoop.PutTransaction(engine, buffer, count, isSorted: false, run);
            run.Progress.Report((long)Stopwatch.GetElapsedTime(started).TotalMilliseconds, request.Operations);
        }
        var waiting = Stopwatch.GetTimestamp();
        engine.WaitForCommits();
        run.AddEngineTime(waiting, Stopwatch.GetTimestamp());
        return done;
    }

    private static long Read(BenchmarkEngine engine, RunRequest request, TimedRun run, long started, TimeSpan time)
    {
        using var reader = engine.CreateReader();
        var buffer = new ItemBuffer(request.Workload.Keys, GetsPerTransaction, withValues: false);
        ContentChecksum ignored = default;
        long done = 0;
        for (; Stopwatch.GetElapsedTime(started) < time; done += GetsPerTransaction)
        {
            ReadLoop.Fill(buffer, request, done, GetsPerTransaction);
            ReadLoop.Transaction(reader, request.Workload, buffer, GetsPerTransaction, run, ref ignored);
        }
        return done;
    }
}
