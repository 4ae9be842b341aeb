using Microsoft.Extensions.Logging;

namespace Voron.Primitives;

/// <summary>The argument for the call of an observer: one of the fields.</summary>
/// <param name="Commit">The report of a commit, when <paramref name="Other"/> is null.</param>
/// <param name="Other">A report of another kind.</param>
internal readonly record struct ObserverCall(CommitReport Commit, object? Other);

/// <param name="Report">The subject of the report.</param>
/// <param name="Call">Calls the observer.</param>
internal sealed record BackgroundCall(string Report, Action Call);

/// <summary>The observers of the options. Reports of commits and flushes share one order; background reports have another.</summary>
internal sealed class Observers(StorageOptions options, ILogger logger)
{
    private readonly ObserverCalls _writes = new(options, logger);
    private readonly ObserverCalls _background = new(options, logger);

    /// <summary>True when commits have an observer.</summary>
    public bool WantsCommits => options.CommitObserver != null;

    /// <summary>Queues a report. <see cref="CallHere"/> or <see cref="CallElsewhere"/> must follow when no lock is held.</summary>
    public void Post(in CommitReport report)
    {
        if (WantsCommits)
            _writes.Post(new ObserverCall(report, null));
    }

    /// <inheritdoc cref="Post(in CommitReport)"/>
    public void Post(in FlushReport report)
    {
        if (options.FlushObserver != null)
            _writes.Post(new ObserverCall(default, report));
    }

    /// <summary>Makes the report on a pool thread.</summary>
    public void Post(in SlowReaderReport report)
    {
        if (options.SlowReaderObserver != null)
            PostInBackground(report);
    }

    /// <summary>Calls an observer on a pool thread.</summary>
    /// <param name="report">The subject of the report, for the message if the observer fails.</param>
    /// <param name="call">Calls the observer.</param>
    public void Post(string report, Action call) => PostInBackground(new BackgroundCall(report, call));

    /// <summary>Reports commits and flushes on the calling thread.</summary>
    public void CallHere() => _writes.CallHere();

    /// <summary>Reports commits and flushes on a pool thread.</summary>
    public void CallElsewhere() => _writes.CallElsewhere();

    /// <inheritdoc cref="UserCalls{T}.Finish"/>
    public void Finish(TimeSpan longest)
    {
        var begun = Environment.TickCount64;
        _writes.Finish(longest);
        var left = longest - TimeSpan.FromMilliseconds(Environment.TickCount64 - begun);
        _background.Finish(left > TimeSpan.Zero ? left : TimeSpan.Zero);
    }

    private void PostInBackground(object report)
    {
        _background.Post(new ObserverCall(default, report));
        _background.CallElsewhere();
    }
}

/// <summary>Calls observers one at a time, in the order of events.</summary>
internal sealed partial class ObserverCalls(StorageOptions options, ILogger logger) : UserCalls<ObserverCall>
{
    protected override void Call(in ObserverCall call)
    {
        switch (call.Other)
        {
            case null:
                options.CommitObserver?.Invoke(call.Commit);
                break;
            case FlushReport report:
                options.FlushObserver?.Invoke(report);
                break;
            case SlowReaderReport report:
                options.SlowReaderObserver?.Invoke(report);
                break;
            case BackgroundCall other:
                other.Call();
                break;
        }
    }

    protected override void Failed(in ObserverCall call, Exception failure) =>
        LogFailed(logger, call.Other is BackgroundCall other ? other.Report : (call.Other ?? call.Commit).GetType().Name, failure.Message, failure);

    protected override void Lost(long calls) => LogLost(logger, calls);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The observer of {Report} failed: {Reason}")]
    private static partial void LogFailed(ILogger logger, string report, string reason, Exception exception);

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Calls} reports were not given to an observer, because one before them did not return.")]
    private static partial void LogLost(ILogger logger, long calls);
}
