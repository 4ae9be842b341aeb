using Microsoft.Extensions.Logging;

namespace Voron.Primitives;

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
