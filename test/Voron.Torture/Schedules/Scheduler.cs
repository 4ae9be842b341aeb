using System.Collections.Concurrent;
using System.Text;
using Voron.IO;
using Voron.Simulation.Harness;
using Voron.Testing;

namespace Voron.Torture.Schedules;

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
        var thread = Make(name, null);
        thread.Condition = until;
        Worker.Take(thread.Turn, () => Live(thread, work));
    }

    /// <summary>Runs the threads and returns when all of them have ended; throws the first exception that one of them threw.</summary>
    public void Run()
    {
        var first = Next(null) ?? throw new BrokenPromiseException("No thread can begin.");
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
    public IEnumerable<string> DescribeTrace()
    {
        var line = new StringBuilder();
        for (var i = 0; i < _trace.Count; i++)
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
        foreach (var other in _threads)
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
        foreach (var thread in _threads)
            thread.IsSignalled |= thread.WaitsFor == signalled;
    }

    internal ThreadStart Adopt(ThreadStart work, object owner)
    {
        var thread = Make(owner.GetType().Name, owner);
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
            Abandon(new BrokenPromiseException($"Deadlock: all threads wait.\n{Describe()}"));
    }

    private void GoOn(ScheduledThread thread)
    {
        if (_trace.Count > MaxSteps)
            Abandon(new BrokenPromiseException($"No thread makes progress.\n{Describe()}"));
        ThrowIfAbandoned();
        var next = Next(thread);
        if (next == thread)
            return;
        if (next is null)
        {
            Abandon(new BrokenPromiseException($"Deadlock: all threads wait.\n{Describe()}"));
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
        foreach (var thread in _threads)
        {
            if (!thread.HasEnded && !thread.HasYielded && (thread.Condition is null || thread.Condition()))
                _candidates.Add(thread);
        }
        if (_candidates.Count == 0)
            _candidates.AddRange(_threads.Where(thread => !thread.HasEnded && thread.HasYielded));
        var timesOut = _candidates.Count == 0;
        if (timesOut)
            _candidates.AddRange(_threads.Where(thread => !thread.HasEnded && thread.MayTimeOut && thread.Condition is not null));
        if (_candidates.Count == 0)
            return null;
        var next = _candidates.Count == 1
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
        foreach (var thread in _threads)
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
        foreach (var thread in _threads.Where(thread => !thread.HasEnded))
        {
            var waits = (thread.Condition is null ? "" : ", waits") + (thread.WaitsFor is { } what ? $" for {what}" : "");
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
            if (!Idle.TryTake(out var worker))
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
