using System.Diagnostics;

namespace Voron.Primitives;

/// <summary>The start and the end, in UTC, of work that has ended.</summary>
internal readonly record struct WorkTime(DateTime Start, DateTime End)
{
    /// <summary>The time since a timestamp of <see cref="Stopwatch"/>, up to now.</summary>
    public static WorkTime Since(long timestamp)
    {
        var now = DateTime.UtcNow;
        return new WorkTime(now - Stopwatch.GetElapsedTime(timestamp), now);
    }
}
