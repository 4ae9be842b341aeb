namespace Voron.Tests;

/// <summary>A thread for whose end, or whose waiting, a test can wait. A thread that hangs is left behind.</summary>
internal sealed class TestThread
{
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

    /// <summary>Returns whether the calling thread has been interrupted and has not waited since, and ends that state.</summary>
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

    /// <summary>Returns when several checks in a row have found the thread waiting, or when it has ended.</summary>
    /// <exception cref="TimeoutException">The thread is still working.</exception>
    public void WaitUntilBlockedOrEnded()
    {
        var waits = 0;
        var deadline = Environment.TickCount64 + (long)TestWait.Limit.TotalMilliseconds;
        while (_thread.IsAlive && waits < 20)
        {
            if (Environment.TickCount64 > deadline)
                throw new TimeoutException("The thread neither waits nor ends.");
            waits = (_thread.ThreadState & ThreadState.WaitSleepJoin) != 0 ? waits + 1 : 0;
            Thread.Sleep(1);
        }
    }

    /// <inheritdoc cref="Thread.Interrupt"/>
    public void Interrupt() => _thread.Interrupt();

    /// <summary>Waits for the thread's end, and returns the exception that it threw, or null.</summary>
    /// <exception cref="TimeoutException">The thread hangs.</exception>
    public Exception? Join() => _thread.Join(TestWait.Limit) ? _thrown : throw new TimeoutException("The thread hangs.");
}
