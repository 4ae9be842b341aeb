using Voron.Primitives;
using Voron.Testing;

namespace Voron.Torture.ChangeTracking;

/// <summary>Runs an action of another thread at a place within the calling thread's work.</summary>
internal sealed class FlushWhileCollecting(SchedulePlace place, Action action) : ISchedule
{
    public void Reach(SchedulePlace reached)
    {
        if (reached != place)
            return;
        SchedulePoint.Current = null;
        try
        {
            LockOrder.AsAnotherThread(action);
        }
        finally
        {
            SchedulePoint.Current = this;
        }
    }

    public bool WaitUntil(Func<bool> condition, bool mayTimeOut) => condition();

    public bool WaitFor(object signalled, bool mayTimeOut) => throw new InvalidOperationException("No other thread runs.");

    public void Signal(object signalled)
    {
    }

    public void Spin()
    {
    }

    public ThreadStart Adopt(ThreadStart work, object owner) => work;

    public void Queue(IThreadPoolWorkItem work) => throw new InvalidOperationException("No other thread runs.");

    public bool HaveEnded(object owner) => true;
}
