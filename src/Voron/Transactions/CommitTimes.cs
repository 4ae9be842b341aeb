using System.Diagnostics;
using Microsoft.Extensions.Logging;
using Voron.Format;
using Voron.Primitives;

namespace Voron.Transactions;

/// <summary>Assigns each commit its time, which never decreases: while the clock is behind the last commit, the time does not advance.</summary>
/// <remarks>Used by the holder of the writer.</remarks>
internal sealed class CommitTimes
{
    /// <summary>A clock set back by less than this is being adjusted, which is not worth a warning.</summary>
    private static readonly TimeSpan Tolerance = TimeSpan.FromSeconds(1);

    private readonly SteadyClock _clock;
    private readonly ILogger _logger;
    private readonly string _path;
    private bool _isBehind;

    public CommitTimes(SteadyClock clock, ILogger logger, string path)
    {
        _clock = clock;
        _logger = logger;
        _path = path;
    }

    /// <summary>Returns the time of a commit, as in <see cref="EnvironmentState.CommitTime"/>.</summary>
    /// <param name="last">The time of the commit before it.</param>
    public long Next(long last)
    {
        var now = _clock.Read();
        if (now >= last)
        {
            _isBehind = false;
            return now;
        }

        if (!_isBehind && last - now > Tolerance.Ticks)
        {
            _isBehind = true;
            TransactionLog.ClockBehind(_logger, _path, new DateTime(now, DateTimeKind.Utc), new DateTime(last, DateTimeKind.Utc));
        }

        Debug.Assert(last <= DateTime.MaxValue.Ticks, "The time of a commit must be one that a clock can show.");
        return last;
    }
}
