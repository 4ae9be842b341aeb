using System.Diagnostics;
using Voron.Benchmarks.Engines;
using Voron.Benchmarks.Measurement;

namespace Voron.Benchmarks.Workloads;

/// <summary>
/// Many callers, each of which waits for its own durable put before the next. Where the engine can wait without a thread,
/// a caller is a task; elsewhere it is a thread, of which there are at most 64. When time is up each caller stops after its put.
/// </summary>
internal static class ConcurrentLoop
{
    private const int MaxThreads = 64;

    public static void Run(BenchmarkEngine engine, RunRequest request, TimedRun run)
    {
        int callers = (int)Math.Min(request.Workload.Callers, request.Operations);
        bool isAsync = engine.CreateCaller() is not null;
        if (!isAsync)
            callers = Math.Min(callers, MaxThreads);
        run.Note = isAsync ? $"{callers} tasks" : $"{callers} threads";
        var histograms = new LatencyHistogram[callers];
        for (int i = 0; i < callers; i++)
            histograms[i] = new LatencyHistogram();

        long started = Stopwatch.GetTimestamp();
        if (isAsync)
        {
            var tasks = new Task[callers];
            for (int i = 0; i < callers; i++)
                tasks[i] = CallAsync(engine.CreateCaller()!, request, i, callers, histograms[i], run, started);
            Task.WaitAll(tasks);
        }
        else
        {
            ParallelCallers.Run(callers, caller => Call(engine, request, caller, callers, histograms[caller], run, started));
        }
        run.AddEngineTime(started, Stopwatch.GetTimestamp());
        run.OperationsDone = histograms.Sum(histogram => histogram.Count);
        foreach (LatencyHistogram histogram in histograms)
        {
            run.Commits.Add(histogram);
            run.Transactions.Add(histogram);
        }
    }

    private static async Task CallAsync(
        AsyncCaller caller, RunRequest request, int first, int callers, LatencyHistogram latencies, TimedRun run, long started)
    {
        // All of them start on the pool, as requests to a service would.
        await Task.Yield();
        var buffer = new ItemBuffer(request.Workload.Keys, 1, withValues: true, request.Workload.ValueBytes);
        var speaker = new Speaker(first == 0, request.Operations, run);
        for (long item = first; item < request.Operations && !run.ShouldStop(started); item += callers)
        {
            buffer.SetKey(0, item);
            buffer.SetValue(0, item, version: 0);
            long began = Stopwatch.GetTimestamp();
            await caller.PutAsync(buffer.KeyMemory(0), buffer.ValueMemory(0)).ConfigureAwait(false);
            latencies.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
            speaker.Done(item);
        }
        speaker.End();
    }

    private static void Call(
        BenchmarkEngine engine, RunRequest request, int first, int callers, LatencyHistogram latencies, TimedRun run, long started)
    {
        var buffer = new ItemBuffer(request.Workload.Keys, 1, withValues: true, request.Workload.ValueBytes);
        var speaker = new Speaker(first == 0, request.Operations, run);
        for (long item = first; item < request.Operations && !run.ShouldStop(started); item += callers)
        {
            buffer.SetKey(0, item);
            buffer.SetValue(0, item, version: 0);
            long began = Stopwatch.GetTimestamp();
            engine.PutDurable(buffer.Key(0), buffer.Value(0));
            latencies.Record(Clock.Nanoseconds(began, Stopwatch.GetTimestamp()));
            speaker.Done(item);
        }
        speaker.End();
    }

    /// <summary>One caller speaks for all: they take turns.</summary>
    private struct Speaker(bool speaks, long operations, TimedRun run)
    {
        private long _last;

        public void Done(long item)
        {
            if (!speaks)
                return;
            run.Progress.Report(item, operations);
            run.Allocation.Report(item, operations);
            _last = item;
        }

        public readonly void End()
        {
            if (speaks)
                run.Allocation.End(_last);
        }
    }
}
