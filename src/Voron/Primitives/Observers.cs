using Microsoft.Extensions.Logging;

namespace Voron.Primitives;

/// <summary>
/// The observers of the options, and the listeners of the meter. Reports of commits and flushes share one queue. Background reports have a second
/// one, and durations a third.
/// </summary>
/// <param name="options">The options with the observers.</param>
/// <param name="logger">Receives the failures of observers and listeners.</param>
/// <param name="meter">The meter of the environment.</param>
/// <param name="name">The name of the environment in its metrics.</param>
internal sealed class Observers(StorageOptions options, ILogger logger, EngineMeter meter, EnvironmentName name)
{
    private readonly ObserverCalls _writes = new(options, logger);
    private readonly ObserverCalls _background = new(options, logger);

    /// <summary>True while an observer or a listener is being called.</summary>
    public bool IsCalling => _writes.IsCalling || _background.IsCalling || Durations.IsCalling;

    /// <summary>True when commits have an observer.</summary>
    public bool WantsCommits => options.CommitObserver != null;

    /// <summary>The durations of the environment's work, for the listeners of the meter.</summary>
    public DurationRecorder Durations { get; } = new(meter, name, logger);

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

    /// <summary>Reports commits, flushes and durations on the calling thread.</summary>
    public void CallHere()
    {
        _writes.CallHere();
        Durations.CallHere();
    }

    /// <summary>Reports commits, flushes and durations on a pool thread.</summary>
    public void CallElsewhere()
    {
        _writes.CallElsewhere();
        Durations.CallElsewhere();
    }

    /// <inheritdoc cref="UserCalls{T}.Finish"/>
    public void Finish(TimeSpan longest)
    {
        var begun = Environment.TickCount64;
        TimeSpan Left() => TimeSpan.FromMilliseconds(Math.Max(0, longest.TotalMilliseconds - (Environment.TickCount64 - begun)));
        _writes.Finish(longest);
        Durations.Finish(Left());
        _background.Finish(Left());
    }

    private void PostInBackground(object report)
    {
        _background.Post(new ObserverCall(default, report));
        _background.CallElsewhere();
    }
}
