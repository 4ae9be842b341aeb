using Voron.Format;

namespace Voron.Tool.Running;

/// <summary>What happened in a second, between two blocks of the same opening.</summary>
internal readonly record struct StatusRates(
    double Commits, double Operations, double JournalBytes, double JournalWrites, double WriteMilliseconds, double DirectBytes, double FlushedBytes,
    double Flushes);

/// <summary>Forms rates from the blocks that a reader sees.</summary>
/// <remarks>
/// The process writes a block once an interval, and the reader looks once in an interval of its own. So the reader may see the same block twice, and
/// the next time one that is two intervals younger: the rates follow from the times in the blocks. A block that stays for more than two intervals
/// says that nothing happens.
/// </remarks>
internal sealed class RateMeter
{
    private static readonly TimeSpan Slack = TimeSpan.FromMilliseconds(500);

    private StatusBlock _last;
    private StatusRates? _rates;

    /// <summary>Takes a block, and returns the rates as of this block; null as long as there is only one block of this opening.</summary>
    /// <param name="block">The block.</param>
    /// <param name="age">The time since its figures were collected.</param>
    public StatusRates? Add(in StatusBlock block, TimeSpan age)
    {
        var isStale = age > 2 * TimeSpan.FromMilliseconds(block.IntervalMilliseconds) + Slack;
        if (block.Session != _last.Session)
            _rates = null;
        else if (block.Sequence == _last.Sequence && isStale)
            _rates = default(StatusRates);
        else if (block.Sequence > _last.Sequence && block.UptimeMilliseconds > _last.UptimeMilliseconds)
            _rates = Between(_last, block);
        _last = block;
        return _rates;
    }

    private static StatusRates Between(in StatusBlock from, in StatusBlock to)
    {
        var seconds = (to.UptimeMilliseconds - from.UptimeMilliseconds) / 1000.0;
        var writes = to.JournalWrites - from.JournalWrites;
        return new StatusRates(
            (to.CommittedTransactions - from.CommittedTransactions) / seconds,
            (to.GroupCommittedOperations - from.GroupCommittedOperations) / seconds,
            (to.JournalBytes - from.JournalBytes) / seconds,
            writes / seconds,
            writes == 0 ? 0 : TimeSpan.FromTicks(to.JournalWriteTicks - from.JournalWriteTicks).TotalMilliseconds / writes,
            (to.DirectBytes - from.DirectBytes) / seconds,
            (to.FlushedBytes - from.FlushedBytes) / seconds,
            (to.Flushes - from.Flushes) / seconds);
    }
}
