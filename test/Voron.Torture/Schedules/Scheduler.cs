using System.Collections.Concurrent;
using System.Text;
using Voron.IO;
using Voron.Primitives;
using Voron.Testing;
using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Decides which thread continues. Called only if there is a choice.</summary>
internal interface IScheduleStrategy
{
    /// <param name="current">The thread that was running, if it can continue; null if it has ended or waits.</param>
    /// <param name="candidates">At least two threads, in the order of their creation.</param>
    ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates);
}

/// <summary>A place that a thread has reached.</summary>
internal readonly record struct TraceStep(int Thread, SchedulePlace Place);

/// <summary>
/// Runs threads one at a time. At each place that the running thread reaches, the strategy decides which thread continues. A waiting thread
/// continues when the condition that it waits for holds. If all threads wait, that is a deadlock.
/// </summary>
/// <remarks>
/// The threads' shared state needs no lock, because they hand over to each other by a lock of their own. A thread that blocks where the
/// engine does not announce a wait would stop everything; it is reported after <see cref="Limit"/>.
/// </remarks>
internal sealed class Scheduler(IScheduleStrategy strategy)
{
    private const int MaxSteps = 50_000;

    /// <summary>One schedule takes a millisecond.</summary>
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private readonly List<ScheduledThread> _threads = [];
    private readonly List<ScheduledThread> _candidates = [];
    private readonly List<TraceStep> _trace = [];
    private readonly Turn _over = new();
    private volatile bool _abandoned;
    private Exception? _failure;
    private int _left;

    /// <summary>The places that the threads have reached, in order.</summary>
    public IReadOnlyList<TraceStep> Trace => _trace;

    /// <summary>The number of times that a thread other than the running one continued.</summary>
    public int Switches { get; private set; }

    /// <summary>True when every thread has ended.</summary>
    public bool IsOver => Volatile.Read(ref _left) == 0;

    /// <summary>The watch that the threads place between the engine and the system's memory.</summary>
    public IMemoryWatch? Memory { get; init; }

    /// <summary>Adds a thread. Must be called before <see cref="Run"/>, or by a running thread.</summary>
    /// <param name="until">The condition on which the thread begins.</param>
    public void Add(string name, Action work, Func<bool>? until = null)
    {
        ScheduledThread thread = Make(name, null);
        thread.Condition = until;
        Worker.Take(thread.Turn, () => Live(thread, work));
    }

    /// <summary>Runs the threads and returns when all of them have ended; throws the first exception that one of them threw.</summary>
    public void Run()
    {
        ScheduledThread first = Next(null) ?? throw new BrokenPromiseException("Nobody can begin.");
        first.Turn.Give();
        if (!_over.TryTake(Limit))
        {
            Abandon(new BrokenPromiseException($"A thread is stuck where the engine says nothing of waiting.\n{Describe()}"));
            _over.TryTake(TimeSpan.FromSeconds(2));
        }
        if (_failure is { } failure)
            throw new BrokenPromiseException(failure is BrokenPromiseException ? failure.Message : failure.ToString(), failure);
    }

    /// <summary>Returns the trace as text, with one line for each uninterrupted sequence of places of a thread.</summary>
    public IEnumerable<string> TellTrace()
    {
        var line = new StringBuilder();
        for (int i = 0; i < _trace.Count; i++)
        {
            if (i == 0 || _trace[i].Thread != _trace[i - 1].Thread)
            {
                if (i > 0)
                    yield return line.ToString();
                line.Clear().Append(_threads[_trace[i].Thread].Name).Append(':');
            }
            line.Append(' ').Append(_trace[i].Place);
        }
        yield return line.ToString();
    }

    internal void Reach(ScheduledThread thread, SchedulePlace place)
    {
        ThrowIfAbandoned();
        thread.Place = place;
        _trace.Add(new TraceStep(thread.Id, place));
        foreach (ScheduledThread other in _threads)
        {
            if (other != thread)
                other.HasYielded = false;
        }
        GoOn(thread);
    }

    internal void Spin(ScheduledThread thread)
    {
        ThrowIfAbandoned();
        thread.HasYielded = true;
        GoOn(thread);
    }

    internal bool Wait(ScheduledThread thread, Func<bool> condition, bool mayTimeOut)
    {
        ThrowIfAbandoned();
        thread.Condition = condition;
        thread.MayTimeOut = mayTimeOut;
        thread.IsTimedOut = false;
        GoOn(thread);
        thread.Condition = null;
        return !thread.IsTimedOut;
    }

    internal void Signal(object signalled)
    {
        foreach (ScheduledThread thread in _threads)
            thread.IsSignalled |= thread.WaitsFor == signalled;
    }

    internal ThreadStart Adopt(ThreadStart work, object owner)
    {
        ScheduledThread thread = Make(owner.GetType().Name, owner);
        return () =>
        {
            thread.Turn.Take();
            Live(thread, () => work());
        };
    }

    internal void Queue(IThreadPoolWorkItem work) => Add(work.GetType().Name, work.Execute);

    internal bool HaveEnded(object owner) => _threads.TrueForAll(thread => thread.Owner != owner || thread.HasEnded);

    private ScheduledThread Make(string name, object? owner)
    {
        ThrowIfAbandoned();
        var thread = new ScheduledThread(this, _threads.Count, name, owner);
        _threads.Add(thread);
        Interlocked.Increment(ref _left);
        return thread;
    }

    private void Live(ScheduledThread thread, Action work)
    {
        SchedulePoint.Current = thread;
        EngineMemory.Watch = Memory;
        thread.Condition = null;
        try
        {
            ThrowIfAbandoned();
            work();
        }
        catch (ScheduleAbandonedException)
        {
        }
        catch (Exception e)
        {
            Abandon(e);
        }
        SchedulePoint.Current = null;
        EngineMemory.Watch = null;
        End(thread);
    }

    private void End(ScheduledThread thread)
    {
        thread.HasEnded = true;
        if (Interlocked.Decrement(ref _left) == 0)
        {
            _over.Give();
            return;
        }
        if (_abandoned)
            return;
        if (Next(null) is { } next)
            next.Turn.Give();
        else
            Abandon(new BrokenPromiseException($"Deadlock: everybody waits.\n{Describe()}"));
    }

    private void GoOn(ScheduledThread thread)
    {
        if (_trace.Count > MaxSteps)
            Abandon(new BrokenPromiseException($"Nobody gets on.\n{Describe()}"));
        ThrowIfAbandoned();
        ScheduledThread? next = Next(thread);
        if (next == thread)
            return;
        if (next is null)
        {
            Abandon(new BrokenPromiseException($"Deadlock: everybody waits.\n{Describe()}"));
            ThrowIfAbandoned();
        }
        Switches++;
        next!.Turn.Give();
        thread.Turn.Take();
        ThrowIfAbandoned();
    }

    private ScheduledThread? Next(ScheduledThread? current)
    {
        _candidates.Clear();
        foreach (ScheduledThread thread in _threads)
        {
            if (!thread.HasEnded && !thread.HasYielded && (thread.Condition is null || thread.Condition()))
                _candidates.Add(thread);
        }
        if (_candidates.Count == 0)
            _candidates.AddRange(_threads.Where(thread => !thread.HasEnded && thread.HasYielded));
        bool timesOut = _candidates.Count == 0;
        if (timesOut)
            _candidates.AddRange(_threads.Where(thread => !thread.HasEnded && thread.MayTimeOut && thread.Condition is not null));
        if (_candidates.Count == 0)
            return null;
        ScheduledThread next = _candidates.Count == 1
            ? _candidates[0]
            : strategy.Choose(current is not null && _candidates.Contains(current) ? current : null, _candidates);
        next.IsTimedOut = timesOut;
        return next;
    }

    // Every thread that waits for its turn is released, and is thrown out at its next place. The state that the threads leave is not used
    // again.
    private void Abandon(Exception failure)
    {
        _failure ??= failure;
        _abandoned = true;
        foreach (ScheduledThread thread in _threads)
            thread.Turn.Give();
    }

    private void ThrowIfAbandoned()
    {
        if (_abandoned)
            throw new ScheduleAbandonedException();
    }

    private string Describe()
    {
        var text = new StringBuilder();
        foreach (ScheduledThread thread in _threads.Where(thread => !thread.HasEnded))
        {
            string waits = (thread.Condition is null ? "" : ", waits") + (thread.WaitsFor is { } what ? $" for {what}" : "");
            text.AppendLine($"{thread.Name} was last at {thread.Place}{waits}.");
        }
        return text.ToString();
    }

    /// <summary>A thread of the process that is reused for one schedule after another: starting a thread takes longer than a schedule.</summary>
    private sealed class Worker
    {
        private static readonly ConcurrentBag<Worker> Idle = [];

        private readonly Turn _begin = new();
        private Action? _job;

        /// <summary>Runs a job on an idle or new thread, once its turn comes.</summary>
        public static void Take(Turn turn, Action job)
        {
            if (!Idle.TryTake(out Worker? worker))
            {
                worker = new Worker();
                new Thread(worker.Work) { IsBackground = true, Name = "scheduled" }.Start();
            }
            worker._job = () =>
            {
                turn.Take();
                job();
            };
            worker._begin.Give();
        }

        private void Work()
        {
            while (true)
            {
                _begin.Take();
                _job!();
                _job = null;
                Idle.Add(this);
            }
        }
    }
}

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
        bool isSignalled = scheduler.Wait(this, () => IsSignalled, mayTimeOut);
        WaitsFor = null;
        return isSignalled;
    }

    public void Signal(object signalled) => scheduler.Signal(signalled);

    public void Spin() => scheduler.Spin(this);

    public ThreadStart Adopt(ThreadStart work, object owner) => scheduler.Adopt(work, owner);

    public void Queue(IThreadPoolWorkItem work) => scheduler.Queue(work);

    public bool HaveEnded(object owner) => scheduler.HaveEnded(owner);
}

/// <summary>The right to run, which one thread hands to another.</summary>
internal sealed class Turn
{
    private readonly object _gate = new();
    private bool _isGiven;

    public void Give()
    {
        lock (_gate)
        {
            _isGiven = true;
            Monitor.Pulse(_gate);
        }
    }

    public void Take() => TryTake(Timeout.InfiniteTimeSpan);

    public bool TryTake(TimeSpan limit)
    {
        lock (_gate)
        {
            while (!_isGiven)
            {
                if (!Monitor.Wait(_gate, limit))
                    return false;
            }
            _isGiven = false;
            return true;
        }
    }
}

/// <summary>Thrown in a thread of a schedule that has ended with a failure, to end the thread.</summary>
internal sealed class ScheduleAbandonedException() : Exception("The schedule has ended.");
