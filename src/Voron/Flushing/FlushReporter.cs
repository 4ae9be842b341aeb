using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Counts flushes, and reports them to the log, the observers and the listeners. Used by the holder of the flusher's lock.</summary>
internal sealed class FlushReporter(EngineCore engine)
{
    /// <summary>Reports a finished flush.</summary>
    /// <param name="plan">The pages of the flush.</param>
    /// <param name="pages">The writer that has written them.</param>
    /// <param name="transactions">The number of transactions since the previous flush.</param>
    /// <param name="start">The time at which the flush began, as a timestamp of <see cref="Stopwatch"/>.</param>
    public FlushReport Report(FlushPlan plan, FlushPageWriter pages, long transactions, long start)
    {
        var duration = Stopwatch.GetElapsedTime(start);
        var counters = engine.Counters;
        counters.FlushCount++;
        counters.FlushedPages += plan.Pages;
        counters.FlushedBytes += pages.Bytes;
        counters.FlushSeeks += pages.Seeks;
        counters.LastFlushDuration = duration.Ticks;
        Volatile.Write(ref counters.LastFlushUtcTicks, DateTime.UtcNow.Ticks);
        var report = new FlushReport(
            plan.Target.State.TransactionId, plan.Pages, plan.Leaves, plan.Branches, plan.Overflows,
            pages.Seeks, pages.Bytes, transactions, duration);
        engine.Observers.Post(report);
        engine.Observers.Durations.Record(TimedWork.Flush, duration);
        FlushLog.Flushed(
            engine.Logger, engine.Disk.Path, report.TransactionId, report.Pages, report.Bytes, transactions, (long)duration.TotalMilliseconds);
        if (EngineActivities.IsListening)
        {
            Trace(
                start,
                [
                    new(EngineActivities.TransactionId, report.TransactionId), new(EngineActivities.Pages, report.Pages),
                    new(EngineActivities.Bytes, report.Bytes), new(EngineActivities.Transactions, transactions),
                ]);
        }

        return report;
    }

    /// <summary>Reports a flush that has failed, or that was paused because the disk is full.</summary>
    public void ReportFailure(long start, Exception failure)
    {
        if (EngineActivities.IsListening)
            Trace(start, [], failure);
    }

    // A flush that a caller has asked for is a child of the caller's activity. The flusher's own thread has none.
    private void Trace(long start, KeyValuePair<string, object?>[] tags, Exception? failure = null)
    {
        var parent = Activity.Current?.Context ?? default;
        var time = WorkTime.Since(start);
        engine.Observers.Post(
            nameof(Activity), () => EngineActivities.Report(EngineActivities.Flush, engine.Name.Text, time, tags, failure, parent));
    }
}
