using Voron.Simulation.Harness;

namespace Voron.Torture.SlowIo;

/// <summary>One call, on a thread of its own.</summary>
internal sealed class Probe
{
    /// <summary>Far longer than even a crowded machine needs.</summary>
    public static readonly TimeSpan Patience = HangLimit.OfSeconds(60);

    private const int LooksInARow = 5;

    private readonly Thread _thread;
    private readonly long _begun = Environment.TickCount64;
    private Exception? _thrown;
    private int _waitingLooks;

    public Probe(string name, Action action)
    {
        Name = name;
        _thread = new Thread(() =>
        {
            try
            {
                action();
            }
            catch (Exception e)
            {
                _thrown = e;
            }
        })
        {
            IsBackground = true,
            Name = $"probe {name}",
        };
        _thread.Start();
    }

    public string Name { get; }

    public int ThreadId => _thread.ManagedThreadId;

    public TimeSpan Age => TimeSpan.FromMilliseconds(Environment.TickCount64 - _begun);

    public bool HasEnded => !_thread.IsAlive;

    /// <summary>True if the thread was found waiting at each of the last few looks.</summary>
    public bool SeemsBlocked
    {
        get
        {
            _waitingLooks = (_thread.ThreadState & ThreadState.WaitSleepJoin) != 0 ? _waitingLooks + 1 : 0;
            return _waitingLooks >= LooksInARow;
        }
    }

    /// <summary>The exception of the call, once it has ended.</summary>
    public Exception? Thrown => _thrown;

    /// <summary>Waits until the thread seems to wait for something, or has ended.</summary>
    public void WaitUntilBlocked()
    {
        var deadline = Environment.TickCount64 + (long)Patience.TotalMilliseconds;
        for (var looks = 0; looks < LooksInARow && _thread.IsAlive && Environment.TickCount64 < deadline;)
        {
            looks = (_thread.ThreadState & ThreadState.WaitSleepJoin) != 0 ? looks + 1 : 0;
            Thread.Sleep(1);
        }
    }

    /// <exception cref="BrokenPromiseException">The call has not ended in a long time.</exception>
    public void RequireEnd(string when)
    {
        if (!_thread.Join(Patience))
            throw new BrokenPromiseException($"{Name} hangs {when}.");
    }
}
