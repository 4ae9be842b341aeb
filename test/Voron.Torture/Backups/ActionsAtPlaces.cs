using Voron.Primitives;
using Voron.Testing;

namespace Voron.Torture.Backups;

/// <summary>Runs actions of other threads at places within the calling thread's work.</summary>
/// <param name="at">Called with each place.</param>
internal sealed class ActionsAtPlaces(Action<SchedulePlace> at) : ISchedule
{
    public void Reach(SchedulePlace place)
    {
        SchedulePoint.Current = null;
        try
        {
            LockOrder.AsAnotherThread(() => at(place));
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

    // What the engine tells the log: no other thread of the engine runs.
    public void Queue(IThreadPoolWorkItem work) => ThreadPool.UnsafeQueueUserWorkItem(work, preferLocal: false);

    public bool HaveEnded(object owner) => true;
}
