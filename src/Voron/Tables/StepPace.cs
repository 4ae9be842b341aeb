using System.Diagnostics;

namespace Voron.Tables;

/// <summary>
/// Divides the time for which an evolution step holds the writer. Added keys are deferred until the step commits: with many keys per row, applying
/// them takes longer than reading the rows. So each step reads for the fraction of its time that reading took in the previous step.
/// </summary>
/// <param name="maxHold">The time for which a step holds the writer.</param>
internal sealed class StepPace(TimeSpan maxHold)
{
    private const double LeastPart = 0.02;

    private double _part = 0.25;
    private long _began;
    private long _read;

    /// <summary>The time for which the step reads rows.</summary>
    public TimeSpan ReadingTime => maxHold * _part;

    /// <summary>Notes that the step holds the writer.</summary>
    public void Begin() => _began = Stopwatch.GetTimestamp();

    /// <summary>Notes that the step has read its rows.</summary>
    public void EndReading() => _read = Stopwatch.GetTimestamp();

    /// <summary>Notes that the step has released the writer.</summary>
    public void End()
    {
        var whole = Stopwatch.GetTimestamp() - _began;
        if (whole > 0)
            _part = Math.Clamp((double)(_read - _began) / whole, LeastPart, 1);
    }
}
