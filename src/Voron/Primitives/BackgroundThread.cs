using System.Diagnostics.CodeAnalysis;
using Voron.Testing;

namespace Voron.Primitives;

/// <summary>
/// A thread of an environment that starts when there is work for it, and ends after a period without work. The number of threads therefore follows
/// the number of environments in use, not the number of open ones.
/// </summary>
/// <remarks>
/// <code>
///   none ──TryWake──▶ running ──no work for the idle time──▶ none
///     └─────────────────┴──RefuseStart──▶ ends, and none is started again
/// </code>
/// A caller sets the event and then checks for a thread. A thread that ends withdraws first and then checks the event. At least one of them therefore
/// sees the other, and no work waits for a thread that has ended. A thread that has ended in this way no longer touches the environment.
/// </remarks>
/// <param name="name">The name of the thread.</param>
/// <param name="idleTime">The time without work after which the thread ends.</param>
/// <param name="run">The work of the thread, which returns when <see cref="WaitOrEnd"/> returns false, or when <see cref="IsStopping"/>.</param>
[SuppressMessage("Design", "CA1001", Justification = "The event is never disposed: a caller may still set it after the close.")]
internal sealed class BackgroundThread(string name, TimeSpan idleTime, ThreadStart run)
{
    // Protects the start and the end of the thread. No other lock is taken while it is held.
    private readonly Lock _gate = new();

    private readonly AutoResetEvent _work = new(false);
    private volatile Thread? _thread;
    private volatile bool _isRefused;

    /// <summary>True when the thread must end.</summary>
    public bool IsStopping => _isRefused;

    /// <summary>True while a thread exists.</summary>
    public bool IsRunning => _thread != null;

    /// <summary>True on the thread itself.</summary>
    public bool IsCurrent => _thread == Thread.CurrentThread;

    /// <summary>Makes the thread look for work, starting it if necessary. Does not wait.</summary>
    /// <returns>False when there is no thread and the system has no memory for one. The next call tries again.</returns>
    public bool TryWake()
    {
        SchedulePoint.Set(_work);
        Interlocked.MemoryBarrier();
        return _thread != null || _isRefused || TryStart();
    }

    /// <summary>Waits until there may be work, or the time has elapsed. Called by the thread.</summary>
    public void Wait(TimeSpan longest) => SchedulePoint.WaitOne(_work, longest);

    /// <summary>
    /// Waits until there may be work. Returns false when there was none for the idle time, so that the thread must end. Called by the thread.
    /// </summary>
    public bool WaitOrEnd()
    {
        if (SchedulePoint.WaitOne(_work, idleTime))
            return true;
        using (Uninterrupted.Hold(_gate))
        {
            var self = _thread;
            _thread = null;
            Interlocked.MemoryBarrier();
            if (_work.WaitOne(TimeSpan.Zero))
                _thread = self;
            return _thread != null;
        }
    }

    /// <summary>Prevents the start of further threads. A running thread must end. Does not wait for it.</summary>
    public void RefuseStart()
    {
        using (Uninterrupted.Hold(_gate))
            _isRefused = true;
    }

    /// <summary>Waits until the thread has ended. <see cref="RefuseStart"/> must have been called.</summary>
    public void Join()
    {
        SchedulePoint.Set(_work);
        SchedulePoint.UntilEnded(this);
        Thread? thread;
        using (Uninterrupted.Hold(_gate))
            thread = _thread;
        if (thread != null)
            Uninterrupted.Run(thread.Join);
        _thread = null;
    }

    private bool TryStart()
    {
        using (Uninterrupted.Hold(_gate))
        {
            if (_thread != null || _isRefused)
                return true;
            try
            {
                // The thread serves all callers, so it does not run in the context of the one that happens to start it.
                var thread = new Thread(SchedulePoint.Adopt(run, this)) { IsBackground = true, Name = name };
                thread.UnsafeStart();
                _thread = thread;
                return true;
            }
            catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
            {
                return false;
            }
        }
    }
}
