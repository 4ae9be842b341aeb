using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Back-pressure: delays writers while the journal or scratch memory is over its limit, until the flusher has made progress.</summary>
/// <param name="wake">Wakes the flusher's thread.</param>
internal sealed class WriterThrottle(Engine engine, Flusher flusher, AutoResetEvent wake)
{
    private static readonly TimeSpan LongestDelay = TimeSpan.FromSeconds(1);

    // Guards the delayed callers; see LockOrder.
    private readonly EngineMonitor _progress = new(LockRank.Progress);
    private TaskCompletionSource? _progressed;
    private volatile bool _stopping;

    /// <summary>
    /// Bytes that count against the journal limit. The last flush's own records do not: the next flush makes them needless, and they would
    /// slow writers when nothing is left to flush.
    /// </summary>
    public long HeldJournalBytes => engine.JournalFiles!.LiveRecordBytes - flusher.LiveOwnBytes;

    /// <summary>True while writers are delayed, if the flusher has a thread.</summary>
    public bool IsOverLimit =>
        HeldJournalBytes > engine.Options.JournalLimitBytes || engine.VersionBytes > engine.Options.ScratchLimitBytes;

    private bool IsDelayed => IsOverLimit && !_stopping && !engine.Poison.IsPoisoned;

    /// <inheritdoc cref="IBackPressure.ThrottleWriter"/>
    public void Throttle()
    {
        if (!BeginsDelay())
            return;
        var deadline = Environment.TickCount64 + (long)LongestDelay.TotalMilliseconds;
        using (_progress.Enter())
        {
            while (IsDelayed)
            {
                var left = deadline - Environment.TickCount64;
                if (left <= 0 || !_progress.Wait((int)left))
                    return;
            }
        }
    }

    /// <inheritdoc cref="IBackPressure.ThrottleWriterAsync"/>
    public async ValueTask ThrottleAsync()
    {
        if (!BeginsDelay())
            return;
        var deadline = Environment.TickCount64 + (long)LongestDelay.TotalMilliseconds;
        while (true)
        {
            TaskCompletionSource progressed;
            using (_progress.Enter())
                progressed = _progressed ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            var left = deadline - Environment.TickCount64;
            if (left <= 0 || !IsDelayed)
                return;
            await Task.WhenAny(progressed.Task, Task.Delay((int)left)).ConfigureAwait(false);
        }
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
        engine.Counters.BackPressureWaits++;
        SchedulePoint.Set(wake);
        return true;
    }
}
