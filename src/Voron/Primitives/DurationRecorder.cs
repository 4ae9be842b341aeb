using System.Diagnostics;
using Microsoft.Extensions.Logging;

namespace Voron.Primitives;

/// <summary>Records durations for the listeners of the meter, if there are any. Otherwise it only costs a look at a field.</summary>
/// <remarks>
/// A listener is user code: it may throw, block, and call the environment. Durations therefore wait in a queue, like calls to observers, until a
/// thread that holds no engine lock passes them on.
/// </remarks>
internal sealed class DurationRecorder(EngineMeter meter, EnvironmentName name, ILogger logger) : UserCalls<DurationMeasurement>
{
    /// <summary>Returns the time at which the work begins, for <see cref="End"/>; 0 when no listener wants its duration.</summary>
    public long Begin(TimedWork work) => meter.Durations(work).Enabled ? Stopwatch.GetTimestamp() : 0;

    /// <summary>Queues the duration of work that has just ended. <see cref="Observers"/> passes it on.</summary>
    /// <param name="work">The work.</param>
    /// <param name="began">The result of <see cref="Begin"/>.</param>
    public void End(TimedWork work, long began)
    {
        if (began != 0)
            Post(new DurationMeasurement(work, Stopwatch.GetElapsedTime(began)));
    }

    /// <summary>Queues a duration that has already been measured.</summary>
    public void Record(TimedWork work, TimeSpan duration)
    {
        if (meter.Durations(work).Enabled)
            Post(new DurationMeasurement(work, duration));
    }

    protected override void Call(in DurationMeasurement call) => meter.Durations(call.Work).Record(call.Duration.TotalSeconds, name.Tag);

    protected override void Failed(in DurationMeasurement call, Exception failure) =>
        CallbackLog.ObserverFailed(logger, meter.Durations(call.Work).Name, failure.Message, failure);

    protected override void Lost(long calls) => CallbackLog.ReportsLost(logger, calls);
}

/// <summary>A duration waiting to be recorded.</summary>
internal readonly record struct DurationMeasurement(TimedWork Work, TimeSpan Duration);
