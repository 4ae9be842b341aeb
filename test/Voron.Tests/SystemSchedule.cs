using Voron.Testing;

namespace Voron.Tests;

/// <summary>A schedule for one thread that acts at schedule places and leaves everything else to the system.</summary>
internal abstract class SystemSchedule : ISchedule
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(30);

    public abstract void Reach(SchedulePlace place);

    public bool WaitUntil(Func<bool> condition, bool mayTimeOut) => SpinWait.SpinUntil(condition, Patience);

    public bool WaitFor(object signalled, bool mayTimeOut) => true;

    public void Signal(object signalled)
    {
    }

    public void Spin()
    {
    }

    public ThreadStart Adopt(ThreadStart work, object owner) => work;

    public void Queue(IThreadPoolWorkItem work) => ThreadPool.UnsafeQueueUserWorkItem(work, preferLocal: false);

    public bool HaveEnded(object owner) => true;
}
