using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Maintenance;

/// <summary>
/// Verifies everything from time to time, slowly, so that bytes that decay on disk are noticed before they are needed.
/// </summary>
/// <remarks>
/// <code>
///   waiting for the interval ─▶ slice (snapshot held, lock held) ─▶ waiting for the pace ─▶ slice ... ─▶ log and observer ─▶ waiting
/// </code>
/// Closing waits only for the current slice, which ends at the next page. It does not wait for the log or the observer, which may be closing
/// the environment themselves, or waiting for a thread that is. A failure ends one pass, never the process.
/// </remarks>
internal sealed class Scrubber : IDisposable
{
    /// <summary>The limit for the wait on closing, which a hung device must not hang: the slice keeps its memory until the call returns.</summary>
    private static readonly TimeSpan LongestWait = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stop = new();
    private readonly CancellationToken _stopped;
    private readonly Lock _slice = new();
    private readonly Engine _engine;
    private readonly Func<EngineSnapshot> _beginSnapshot;
    private readonly ScrubClock _clock;

    public Scrubber(Engine engine, Func<EngineSnapshot> beginSnapshot)
    {
        _engine = engine;
        _beginSnapshot = beginSnapshot;
        _stopped = _stop.Token;
        var options = engine.Options;
        _clock = options.ScrubClock ?? new ScrubClock();
        if (options.ScrubInterval == Timeout.InfiniteTimeSpan || !options.BackgroundFlush)
            return;
        var thread = new Thread(() => Run(options.ScrubInterval))
        {
            IsBackground = true,
            Name = "Voron scrubber",
            Priority = ThreadPriority.BelowNormal,
        };
        thread.Start();
    }

    /// <summary>Ends a pass in progress, and returns when nothing more is read. May be called by the observer.</summary>
    public void Dispose()
    {
        _stop.Cancel();
        Uninterrupted.Run(() =>
        {
            if (_slice.TryEnter(LongestWait))
                _slice.Exit();
        });
    }

    private void Run(TimeSpan interval)
    {
        while (!_clock.Wait(interval, _stopped))
        {
            try
            {
                Report(Pass());
            }
            catch (OperationCanceledException) when (_stopped.IsCancellationRequested)
            {
                return;
            }
            catch (Exception e)
            {
                // No memory, an unreadable disk or no free reader slot, for example: the next pass may succeed.
                LogSafely(() => ScrubLog.Failed(_engine.Logger, _engine.Disk.Path, e.Message, e));
            }
        }
    }

    private VerificationReport Pass()
    {
        var pace = new ScrubPace(_engine.Options.ScrubBytesPerSecond, _clock, _stopped);
        var pass = new ScrubPass(_engine, pace);
        while (!RunSlice(pass))
            pace.Wait();
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

    private void Report(VerificationReport report)
    {
        _stopped.ThrowIfCancellationRequested();
        foreach (var problem in report.Problems)
            LogSafely(() => ScrubLog.Problem(_engine.Logger, _engine.Disk.Path, report.TransactionId, problem));
        if (_engine.Options.ScrubObserver is { } observer)
            _engine.Observers.Post(nameof(VerificationReport), () => observer(report));
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
