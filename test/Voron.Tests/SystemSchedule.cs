using Voron.Testing;

namespace Voron.Tests;

/// <summary>A schedule for one thread that acts at schedule places and leaves everything else to the system.</summary>
internal abstract class SystemSchedule : ISchedule
{
    public abstract void Reach(SchedulePlace place);

    public bool WaitUntil(Func<bool> condition, bool mayTimeOut) => SpinWait.SpinUntil(condition, TestWait.Limit);

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
