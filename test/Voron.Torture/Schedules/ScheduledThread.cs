using Voron.Testing;

namespace Voron.Torture.Schedules;

/// <summary>One of the threads of a schedule.</summary>
internal sealed class ScheduledThread(Scheduler scheduler, int id, string name, object? owner) : ISchedule
{
    public int Id => id;

    public string Name => name;

    public object? Owner => owner;

    public Turn Turn { get; } = new();

    public SchedulePlace Place { get; set; }

    /// <summary>The condition on which the thread continues; null while it need not wait.</summary>
    public Func<bool>? Condition { get; set; }

    public object? WaitsFor { get; set; }

    public bool IsSignalled { get; set; }

    public bool MayTimeOut { get; set; }

    public bool IsTimedOut { get; set; }

    public bool HasYielded { get; set; }

    public bool HasEnded { get; set; }

    public void Reach(SchedulePlace place) => scheduler.Reach(this, place);

    public bool WaitUntil(Func<bool> condition, bool mayTimeOut) => scheduler.Wait(this, condition, mayTimeOut);

    public bool WaitFor(object signalled, bool mayTimeOut)
    {
        IsSignalled = false;
        WaitsFor = signalled;
        var isSignalled = scheduler.Wait(this, () => IsSignalled, mayTimeOut);
        WaitsFor = null;
        return isSignalled;
    }

    public void Signal(object signalled) => scheduler.Signal(signalled);

    public void Spin() => scheduler.Spin(this);

    public ThreadStart Adopt(ThreadStart work, object owner) => scheduler.Adopt(work, owner);

    public void Queue(IThreadPoolWorkItem work) => scheduler.Queue(work);

    public bool HaveEnded(object owner) => scheduler.HaveEnded(owner);
}
