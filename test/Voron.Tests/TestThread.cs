namespace Voron.Tests;

/// <summary>A thread whose end, and whose waiting, a test can wait for. It is left behind when it hangs.</summary>
internal sealed class TestThread
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(40);

    private readonly Thread _thread;
    private Exception? _thrown;

    public TestThread(Action action)
    {
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
        };
        _thread.Start();
    }

    /// <summary>Whether the calling thread has been interrupted and not waited since, which is over then.</summary>
    public static bool IsInterrupted()
    {
        try
        {
            Thread.Sleep(0);
            Thread.Sleep(1);
            return false;
        }
        catch (ThreadInterruptedException)
        {
            return true;
        }
    }

    public bool HasEnded => !_thread.IsAlive;

    /// <summary>Returns when the thread waits for something, for several looks in a row, or has ended.</summary>
    public void WaitUntilBlockedOrEnded()
    {
        var waits = 0;
        var deadline = Environment.TickCount64 + (long)Patience.TotalMilliseconds;
        while (_thread.IsAlive && waits < 20 && Environment.TickCount64 < deadline)
        {
            waits = (_thread.ThreadState & ThreadState.WaitSleepJoin) != 0 ? waits + 1 : 0;
            Thread.Sleep(1);
        }
    }

    /// <inheritdoc cref="Thread.Interrupt"/>
    public void Interrupt() => _thread.Interrupt();

    /// <summary>Waits for its end; returns what it threw, or null.</summary>
    /// <exception cref="TimeoutException">It hangs.</exception>
    public Exception? Join() => _thread.Join(Patience) ? _thrown : throw new TimeoutException("The thread hangs.");
}
