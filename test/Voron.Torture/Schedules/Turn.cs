namespace Voron.Torture.Schedules;

/// <summary>The right to run, which one thread hands to another.</summary>
internal sealed class Turn
{
    private readonly object _gate = new();
    private bool _isGiven;

    public void Give()
    {
        lock (_gate)
        {
            _isGiven = true;
            Monitor.Pulse(_gate);
        }
    }

    public void Take() => TryTake(Timeout.InfiniteTimeSpan);

    public bool TryTake(TimeSpan limit)
    {
        lock (_gate)
        {
            while (!_isGiven)
            {
                if (!Monitor.Wait(_gate, limit))
                    return false;
            }
            _isGiven = false;
            return true;
        }
    }
}
