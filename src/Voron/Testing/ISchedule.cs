
namespace Voron.Testing;

/// <summary>A test's replacement for the system's scheduler: only one of its threads runs at a time.</summary>
internal interface ISchedule
{
    /// <summary>Allows another thread to continue in place of this one.</summary>
    void Reach(SchedulePlace place);

    /// <summary>
    /// Lets other threads run until the condition holds. Returns false when the wait times out, which happens when no other thread can continue.
    /// </summary>
    bool WaitUntil(Func<bool> condition, bool mayTimeOut);

    /// <summary>Lets other threads run until one of them signals the object.</summary>
    /// <inheritdoc cref="WaitUntil"/>
    bool WaitFor(object signalled, bool mayTimeOut);

    void Signal(object signalled);

    /// <summary>Requires another thread to continue first.</summary>
    void Spin();

    /// <summary>Returns the work that a new thread must run to become one of the threads that run one at a time.</summary>
    ThreadStart Adopt(ThreadStart work, object owner);

    /// <summary>Runs the work on a thread of its own.</summary>
    void Queue(IThreadPoolWorkItem work);

    /// <summary>Returns whether the threads of the owner have ended.</summary>
    bool HaveEnded(object owner);
}
