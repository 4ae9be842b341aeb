using System.Runtime.ExceptionServices;

namespace Voron.Benchmarks.Workloads;

/// <summary>
/// Runs many callers, each of which waits until its own put is durable before it makes the next. A caller is a task if the engine can
/// wait without a thread, otherwise one of at most 64 threads. When the time is up, each caller stops after its current put.
/// </summary>
internal static class ConcurrentLoop
{
    private const int MaxThreads = 64;

    public static void Run(BenchmarkEngine engine, RunRequest request, TimedRun run)
    {
        var callers = (int)Math.Min(request.Workload.Callers, request.Operations);
        var isAsync = engine.CreateCaller() is not null;
        if (!isAsync)
            callers = Math.Min(callers, MaxThreads);
        run.Note = isAsync ? $"{callers} tasks" : $"{callers} threads";
        var histograms = new LatencyHistogram[callers];
        for (var i = 0; i < callers; i++)
            histograms[i] = new LatencyHistogram();

        var started = Stopwatch.GetTimestamp();
        var load = new Load(request, run, callers, started);
        if (isAsync)
        {
            // All callers start on the thread pool, as requests to a service would.
            Task.WaitAll(Enumerable.Range(0, callers).Select(i => Task.Run(() => CallAsync(engine.CreateCaller()!, load, i, histograms[i]))));
        }
        else
        {
            ParallelCallers.Run(callers, caller => CallAsync(new BlockingCaller(engine), load, caller, histograms[caller]).GetAwaiter().GetResult());
        }
        run.AddEngineTime(started, Stopwatch.GetTimestamp());
        run.OperationsDone = histograms.Sum(histogram => histogram.Count);
        foreach (var histogram in histograms)
        {
            run.Commits.Add(histogram);
            run.Transactions.Add(histogram);
        }
    }

    private static async Task CallAsync(AsyncCaller caller, Load load, int first, LatencyHistogram latencies)
    {
        var buffer = load.CreateBuffer();
        for (long item = first; load.HasTimeFor(item); item += load.Callers)
        {
            buffer.SetKey(0, item);
            buffer.SetValue(0, item, version: 0);
            var began = Stopwatch.GetTimestamp();
            await caller.PutAsync(buffer.KeyMemory(0), buffer.ValueMemory(0)).ConfigureAwait(false);
            latencies.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
            load.Report(first, item);
        }
        load.End(first, latencies.Count);
    }

    /// <summary>A caller whose put is durable when the call returns.</summary>
    private sealed class BlockingCaller(BenchmarkEngine engine) : AsyncCaller
    {
        public override ValueTask PutAsync(ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> value)
        {
            engine.PutDurable(key.Span, value.Span);
            return ValueTask.CompletedTask;
        }
    }

    /// <summary>The work that the callers share. The first caller reports for all of them, because they advance together.</summary>
    private sealed record Load(RunRequest Request, TimedRun Run, int Callers, long Started)
    {
        public ItemBuffer CreateBuffer() => new(Request.Workload.Keys, 1, withValues: true, Request.Workload.ValueBytes);

        public bool HasTimeFor(long item) => item < Request.Operations && !Run.ShouldStop(Started);

        public void Report(int caller, long item)
        {
            if (caller != 0)
                return;
            Run.Progress.Report(item, Request.Operations);
            Run.Allocation.Report(item, Request.Operations);
        }

        public void End(int caller, long puts)
        {
            if (caller == 0)
                Run.Allocation.End(Math.Max(0, puts - 1) * Callers);
        }
    }
}

/// <summary>Runs threads that start together, and waits for all of them.</summary>
internal static class ParallelCallers
{
    /// <summary>Rethrows the first exception of any thread.</summary>
    public static void Run(int threads, Action<int> body)
    {
        using var start = new Barrier(threads);
        ExceptionDispatchInfo? failure = null;
        var all = new Thread[threads];
        for (var i = 0; i < threads; i++)
        {
            var number = i;
            all[i] = new Thread(() =>
            {
                start.SignalAndWait();
                try
                {
                    body(number);
                }
                catch (Exception error)
                {
                    Interlocked.CompareExchange(ref failure, ExceptionDispatchInfo.Capture(error), null);
                }
            });
            all[i].Start();
        }
        foreach (var thread in all)
            thread.Join();
        failure?.Throw();
    }
}
