using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Maintenance;

/// <summary>
/// Verifies everything periodically and slowly, to detect bytes that decay on disk before they are needed.
/// </summary>
/// <remarks>
/// <code>
///   timer runs for the interval ─▶ thread: slice (snapshot held, lock held) ─▶ waiting for the pace ─▶ slice ... ─▶ log and observer ─▶ timer
/// </code>
/// Closing waits only for the current slice, which ends at the next page. It does not wait for the log or the observer, which may be closing
/// the environment themselves, or waiting for a thread that is. A failure ends one pass, never the process.
/// </remarks>
internal sealed class Scrubber : IDisposable
{
    /// <summary>The limit of the wait at closing, which a hung device must not block: the slice keeps its memory until the call returns.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationToken _stopped;
    private readonly Lock _slice = new();
    private readonly ReadingEngine _engine;
    private readonly Func<EngineSnapshot> _beginSnapshot;
    private readonly ScrubClock _clock;

    // Due when the next pass begins. No thread waits for it: most environments are closed long before.
    private readonly Timer? _timer;

    public Scrubber(ReadingEngine engine, Func<EngineSnapshot> beginSnapshot)
    {
        _engine = engine;
        _beginSnapshot = beginSnapshot;
        _stopped = _stop.Token;
        var options = engine.Options;
        _clock = options.ScrubClock ?? new ScrubClock();
        if (options.ScrubInterval == Timeout.InfiniteTimeSpan || !options.BackgroundFlush)
            return;
        if (options.ScrubClock != null)
        {
            StartThread(RunOnClock);
            return;
        }

        // The timer belongs to the environment, not to the context of the caller that opens it.
        var flow = ExecutionContext.IsFlowSuppressed() ? default : ExecutionContext.SuppressFlow();
        _timer = new Timer(static scrubber => ((Scrubber)scrubber!).StartPass(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        if (flow != default)
            flow.Undo();
        StartTimer();
    }

    /// <summary>Ends a pass in progress, and returns when nothing more is read. May be called by the observer.</summary>
    public void Dispose()
    {
        _stop.Cancel();
        _timer?.Dispose();
        Uninterrupted.Run(() =>
        {
            if (_slice.TryEnter(LongestWait))
                _slice.Exit();
        });
    }

    private static void StartThread(ThreadStart run) =>
        new Thread(run) { IsBackground = true, Name = "Voron scrubber", Priority = ThreadPriority.BelowNormal }.UnsafeStart();

    // A test's clock decides itself when an interval is over.
    private void RunOnClock()
    {
        while (!_clock.Wait(_engine.Options.ScrubInterval, _stopped))
            Run();
    }

    // A pass is paced, and may take hours: too long for the timer's thread, which belongs to the pool.
    private void StartPass()
    {
        try
        {
            StartThread(() =>
            {
                Run();
                StartTimer();
            });
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            LogSafely(() => ScrubLog.Failed(_engine.Logger, _engine.Disk.Path, e.Message, e));
            StartTimer();
        }
    }

    private void StartTimer()
    {
        try
        {
            _timer!.Change(_engine.Options.ScrubInterval, Timeout.InfiniteTimeSpan);
        }
        catch (ObjectDisposedException)
        {
            // The environment has been closed.
        }
    }

    private void Run()
    {
        var began = Stopwatch.GetTimestamp();
        try
        {
            var report = Pass(out var bytes);
            Report(report, bytes, began);
        }
        catch (OperationCanceledException) when (_stopped.IsCancellationRequested)
        {
            // The environment has been closed, which ends the waits for another pass too.
        }
        catch (Exception e)
        {
            // No memory, an unreadable disk or no free reader slot, for example: the next pass may succeed.
            LogSafely(() => ScrubLog.Failed(_engine.Logger, _engine.Disk.Path, e.Message, e));
            if (EngineActivities.IsListening)
                Trace(began, [], e);
        }
    }

    private VerificationReport Pass(out long bytes)
    {
        var pace = new ScrubPace(_engine.Options.ScrubBytesPerSecond, _clock, _stopped);
        var pass = new ScrubPass(_engine, pace);
        while (!RunSlice(pass))
            pace.Wait();
        bytes = pace.TotalBytes;
        return pass.Report;
    }

    private bool RunSlice(ScrubPass pass)
    {
        using (Uninterrupted.Hold(_slice))
        {
            _stopped.ThrowIfCancellationRequested();
            using var reading = _beginSnapshot();
            return pass.RunSlice(reading.Snapshot);
        }
    }

    private void Report(VerificationReport report, long bytes, long began)
    {
        _stopped.ThrowIfCancellationRequested();
        Count(report, bytes);
        var milliseconds = (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        LogSafely(() => ScrubLog.Finished(
            _engine.Logger, _engine.Disk.Path, report.TransactionId, report.Problems.Count, bytes, milliseconds));
        foreach (var problem in report.Problems)
            LogSafely(() => ScrubLog.Problem(_engine.Logger, _engine.Disk.Path, report.TransactionId, problem));
        if (_engine.Options.ScrubObserver is { } observer)
            _engine.Observers.Post(nameof(VerificationReport), () => observer(report));
        if (EngineActivities.IsListening)
        {
            Trace(
                began,
                [
                    new(EngineActivities.TransactionId, report.TransactionId), new(EngineActivities.Trees, report.Trees),
                    new(EngineActivities.Bytes, bytes), new(EngineActivities.Problems, report.Problems.Count),
                ]);
        }
    }

    private void Count(VerificationReport report, long bytes)
    {
        var counters = _engine.Counters;
        counters.ScrubbedBytes += bytes;
        counters.ScrubProblems += report.Problems.Count;
        counters.LastScrubProblems = report.Problems.Count;
        counters.LastScrubUtcTicks = DateTime.UtcNow.Ticks;
        Volatile.Write(ref counters.ScrubRuns, counters.ScrubRuns + 1);
    }

    private void Trace(long began, KeyValuePair<string, object?>[] tags, Exception? failure = null)
    {
        var time = WorkTime.Since(began);
        _engine.Observers.Post(nameof(Activity), () => EngineActivities.Report(
            EngineActivities.Verification, _engine.Name.Text, time, tags, failure, parent: default(ActivityContext)));
    }

    // The log is user code too.
    private static void LogSafely(Action log)
    {
        try
        {
            log();
        }
        catch (Exception)
        {
            // There is nowhere left to report the failure.
        }
    }
}
