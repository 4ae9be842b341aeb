using System.Diagnostics.CodeAnalysis;
using Voron.Primitives;
using Voron.Testing;

namespace Voron.Journal;

/// <summary>The thread that leads for records without a waiting thread; started when it is first needed.</summary>
/// <param name="submission">The submission lock: the thread is started under it, and not after <see cref="RefuseStart"/>.</param>
/// <param name="run">The work of the thread, which ends when <see cref="IsStopping"/>.</param>
[SuppressMessage("Design", "CA1001", Justification = "The event is never disposed: a thread that has just submitted may still set it after the close.")]
internal sealed class JournalThread(EngineLock submission, ThreadStart run)
{
    private readonly AutoResetEvent _work = new(false);
    private Thread? _thread;
    private bool _stopping;

    public bool IsStopping => _stopping;

    /// <summary>Makes the thread look for work; the caller does not wait.</summary>
    public void Wake()
    {
        if (_thread == null)
        {
            using (submission.Enter())
            {
                if (_thread == null && !_stopping)
                {
                    var thread = new Thread(SchedulePoint.Adopt(run, this)) { IsBackground = true, Name = "Voron journal" };
                    thread.Start();
                    _thread = thread;
                }
            }
        }

        SchedulePoint.Set(_work);
    }

    /// <summary>Waits until there may be work, or the thread has to end. Called by the thread.</summary>
    public void WaitForWork() => SchedulePoint.WaitOne(_work, Timeout.InfiniteTimeSpan);

    /// <summary>
    /// Makes the thread end when it has written the queued records. From then on the thread either has been started or never will be. The caller
    /// holds the submission lock.
    /// </summary>
    public void RefuseStart()
    {
        submission.AssertHeld();
        _stopping = true;
    }

    /// <summary>Waits until the thread has ended.</summary>
    public void Join()
    {
        SchedulePoint.Set(_work);
        SchedulePoint.UntilEnded(this);
        if (_thread is { } thread)
            Uninterrupted.Run(thread.Join);
    }
}
