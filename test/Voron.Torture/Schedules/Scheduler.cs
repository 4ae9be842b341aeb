using System.Collections.Concurrent;
using System.Text;
using Voron.IO;
using Voron.Primitives;
using Voron.Torture.Harness;

namespace Voron.Torture.Schedules;

/// <summary>Decides which thread goes on. Asked only where there is a choice.</summary>
internal interface IScheduleStrategy
{
    /// <param name="current">Who has run so far and can go on; null when he has ended, or waits.</param>
    /// <param name="candidates">Two at least, in the order in which they came to be.</param>
    ScheduledThread Choose(ScheduledThread? current, IReadOnlyList<ScheduledThread> candidates);
}

/// <summary>A place that a thread has reached.</summary>
internal readonly record struct TraceStep(int Thread, SchedulePlace Place);

/// <summary>
/// Threads of which one runs at a time. At each place that it reaches the strategy decides who goes on; where it waits, it goes on
/// when what it waits for is there. All of them waiting is a deadlock.
/// </summary>
/// <remarks>
/// What the threads share needs no lock: they hand over by a lock of their own. A thread that blocks where the engine does not say
/// so would stop everything, and is reported after <see cref="Limit"/>.
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

    /// <summary>Where the threads came by, in order.</summary>
    public IReadOnlyList<TraceStep> Trace => _trace;

    /// <summary>How often another thread went on than the one that ran.</summary>
    public int Switches { get; private set; }

    /// <summary>Every thread has ended.</summary>
    public bool IsOver => Volatile.Read(ref _left) == 0;

    /// <summary>What the threads have between the engine and the system's memory.</summary>
    public IMemoryWatch? Memory { get; init; }

    /// <summary>Adds a thread, to be called before <see cref="Run"/> or by a thread that runs.</summary>
    /// <param name="until">It begins when this holds.</param>
    public void Add(string name, Action work, Func<bool>? until = null)
    {
        ScheduledThread thread = Make(name, null);
        thread.Condition = until;
        Worker.Take(thread.Turn, () => Live(thread, work));
    }

    /// <summary>Returns when all threads have ended; throws what the first of them threw.</summary>
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

    /// <summary>The trace as text: each stretch of one thread in a line.</summary>
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

    // Everybody who waits for his turn is let go and thrown out at his next place: what they leave behind is not used any more.
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

    /// <summary>A thread of the process, used for one schedule after the other: beginning one takes longer than a schedule.</summary>
    private sealed class Worker
    {
        private static readonly ConcurrentBag<Worker> Idle = [];

        private readonly Turn _begin = new();
        private Action? _job;

        /// <summary>Has a job done by some thread, once it is its turn.</summary>
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

    /// <summary>It goes on when this holds; null while it need not wait.</summary>
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

/// <summary>The right to run, handed from one thread to another.</summary>
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

/// <summary>The schedule has ended with a failure: a thread of it is thrown out.</summary>
internal sealed class ScheduleAbandonedException() : Exception("The schedule has ended.");
