using System.Diagnostics;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;

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
            var tasks = new Task[callers];
            for (var i = 0; i < callers; i++)
                tasks[i] = CallAsync(engine.CreateCaller()!, load, i, histograms[i]);
            Task.WaitAll(tasks);
        }
        else
        {
            ParallelCallers.Run(callers, caller => Call(engine, load, caller, histograms[caller]));
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
        // All callers start on the thread pool, as requests to a service would.
        await Task.Yield();
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

    private static void Call(BenchmarkEngine engine, Load load, int first, LatencyHistogram latencies)
    {
        var buffer = load.CreateBuffer();
        for (long item = first; load.HasTimeFor(item); item += load.Callers)
        {
            buffer.SetKey(0, item);
            buffer.SetValue(0, item, version: 0);
            var began = Stopwatch.GetTimestamp();
            engine.PutDurable(buffer.Key(0), buffer.Value(0));
            latencies.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
            load.Report(first, item);
        }
        load.End(first, latencies.Count);
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

        /// <param name="caller">The caller that is done.</param>
        /// <param name="puts">The number of its puts.</param>
        public void End(int caller, long puts)
        {
            if (caller == 0)
                Run.Allocation.End(Math.Max(0, puts - 1) * Callers);
        }
    }
}
