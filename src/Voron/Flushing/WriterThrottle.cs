using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Back-pressure: delays writers while the journal or scratch memory is over its limit, until the flusher has made progress.</summary>
/// <param name="thread">The flusher's thread.</param>
internal sealed class WriterThrottle(ReadingEngine engine, Flusher flusher, BackgroundThread thread)
{
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(1);

    /// <summary>The time after a log message during which further delays are not logged.</summary>
    private static readonly TimeSpan LogInterval = TimeSpan.FromMinutes(1);

    // Guards the delayed callers; see LockOrder.
    private readonly EngineMonitor _progress = new(LockRank.Progress);
    private TaskCompletionSource? _progressed;
    private volatile bool _stopping;
    private long _loggedAtTick = Environment.TickCount64 - (long)LogInterval.TotalMilliseconds;

    /// <inheritdoc cref="CheckpointMover.HeldJournalBytes"/>
    public long HeldJournalBytes => flusher.HeldJournalBytes;

    /// <summary>True while writers are delayed, if the flusher has a thread.</summary>
    public bool IsOverLimit =>
        HeldJournalBytes > engine.Options.JournalLimitBytes || engine.VersionBytes > engine.Options.ScratchLimitBytes;

    /// <summary>True while arriving writers wait.</summary>
    public bool IsDelayed => IsOverLimit && !_stopping && !engine.Poison.IsPoisoned;

    /// <inheritdoc cref="IFlushServices.ThrottleWriter"/>
    public TimeSpan Throttle(TimeSpan longest)
    {
        if (!BeginsDelay())
            return TimeSpan.Zero;
        var began = Stopwatch.GetTimestamp();
        var deadline = Environment.TickCount64 + (long)Math.Min(LongestDelay.TotalMilliseconds, longest.TotalMilliseconds);
        using (_progress.Enter())
        {
            while (IsDelayed)
            {
                var left = deadline - Environment.TickCount64;
                if (left <= 0 || !_progress.Wait((int)left))
                    break;
            }
        }

        EndDelay(began);
        return Stopwatch.GetElapsedTime(began);
    }

    /// <inheritdoc cref="IFlushServices.ThrottleWriterAsync"/>
    public async ValueTask ThrottleAsync(CancellationToken cancellationToken)
    {
        if (!BeginsDelay())
            return;
        var began = Stopwatch.GetTimestamp();
        var deadline = Environment.TickCount64 + (long)LongestDelay.TotalMilliseconds;
        while (true)
        {
            TaskCompletionSource progressed;
            using (_progress.Enter())
                progressed = _progressed ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            var left = deadline - Environment.TickCount64;
            if (left <= 0 || !IsDelayed || cancellationToken.IsCancellationRequested)
                break;
            await Task.WhenAny(progressed.Task, Task.Delay((int)left, cancellationToken)).ConfigureAwait(false);
        }

        EndDelay(began);
    }

    /// <summary>Makes the delayed writers check again.</summary>
    public void ReportProgress()
    {
        TaskCompletionSource? progressed;
        using (_progress.Enter())
        {
            progressed = _progressed;
            _progressed = null;
            _progress.PulseAll();
        }

        progressed?.TrySetResult();
    }

    /// <summary>Delays no writers from here on.</summary>
    public void Stop() => _stopping = true;

    private bool BeginsDelay()
    {
        if (!IsDelayed)
            return false;
        Interlocked.Increment(ref engine.Counters.BackPressureWaits);
        thread.TryWake();
        LogNowAndThen();
        return true;
    }

    private void EndDelay(long began) => Interlocked.Add(ref engine.Counters.BackPressureTicks, Stopwatch.GetTimestamp() - began);

    private void LogNowAndThen()
    {
        var now = Environment.TickCount64;
        var logged = Volatile.Read(ref _loggedAtTick);
        if (now - logged < LogInterval.TotalMilliseconds || Interlocked.CompareExchange(ref _loggedAtTick, now, logged) != logged)
            return;
        var (options, path) = (engine.Options, engine.Disk.Path);
        FlushLog.WritersSlowed(engine.Logger, path, HeldJournalBytes, options.JournalLimitBytes, engine.VersionBytes, options.ScratchLimitBytes);
    }
}
