using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;

namespace Voron.Torture.Harness;

/// <summary>How much of a suite to run.</summary>
/// <param name="Count">Cases after which no new run begins.</param>
/// <param name="Seed">Where the choices come from.</param>
internal sealed record RunPlan(long Count, long Seed)
{
    /// <summary>The number of the first run.</summary>
    public long First { get; init; }

    /// <summary>Zero for none.</summary>
    public TimeSpan TimeLimit { get; init; }

    /// <summary>How long to look for a shorter script of a failure.</summary>
    public TimeSpan ShrinkTime { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>The name of the fault that this process has planted, for the ledger.</summary>
    public string? Fault { get; init; }

    /// <summary>Where failures are saved; null for nowhere.</summary>
    public string? FailureDirectory { get; init; }

    /// <summary>Zero for as many as the suite likes.</summary>
    public int Threads { get; init; }
}

/// <summary>Makes the runs of a suite, on several threads, until there were enough cases, time is over, or one has failed.</summary>
[SuppressMessage("Design", "CA1001", Justification = "A run that hangs may look at the token for as long as the process lives.")]
internal sealed class SuiteRunner(Suite suite, RunPlan plan)
{
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(100);

    /// <summary>Simulated recoveries nest deep in a debug build.</summary>
    private const int StackBytes = 16 << 20;

    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _gate = new();
    private readonly SortedDictionary<string, long> _tallies = new(StringComparer.Ordinal);
    private readonly long _started = Stopwatch.GetTimestamp();
    private long _next = plan.First;
    private long _runs;
    private long _cases;
    private (long Index, Exception Exception, Tape? Tape, IReadOnlyList<string> Steps)? _failed;

    /// <param name="onProgress">Told the part that is done, from 0 to 1, a few times a second.</param>
    public SuiteResult Run(Action<double>? onProgress = null)
    {
        DateTimeOffset date = DateTimeOffset.UtcNow;
        Worker[] workers = [.. Enumerable.Range(0, plan.Threads > 0 ? plan.Threads : suite.Threads).Select(_ => new Worker())];
        foreach (Worker worker in workers)
        {
            // A run that hangs must not keep the process.
            worker.Thread = new Thread(() => Work(worker), StackBytes) { IsBackground = true, Name = suite.Name };
            worker.Thread.Start();
        }
        while (!WaitForAll(workers))
        {
            onProgress?.Invoke(Progress());
            if (IsOutOfTime)
                _stop.Cancel();
            if (workers.FirstOrDefault(worker => worker.Time > suite.RunLimit) is { } hanging)
            {
                Fail(hanging.Index, new TimeoutException($"Run {hanging.Index} has been going on for {suite.RunLimit.TotalSeconds:0} s: it hangs."), null, []);
                break;
            }
        }
        Failure? failure = _failed is { } failed ? Keep(failed.Index, failed.Exception, failed.Tape, failed.Steps) : null;
        lock (_gate)
        {
            return new SuiteResult(
                suite.Name, suite.Unit, Ledger.EngineVersion, date, plan.Fault, plan.Seed, plan.First, _runs, _cases, plan.Count, suite.FullCount,
                suite.Runs is { } all && plan.First == 0 && _runs >= all, Stopwatch.GetElapsedTime(_started).TotalSeconds,
                new SortedDictionary<string, long>(_tallies, StringComparer.Ordinal), failure is null ? [] : [failure], suite.NotCovered);
        }
    }

    /// <summary>Runs one script again.</summary>
    /// <returns>What it throws, or null when it no longer fails.</returns>
    public static (Exception? Failure, IReadOnlyCollection<string> Steps) Replay(Suite suite, Failure failure)
    {
        Tape tape = failure.Script is { } script ? new Tape(script) : new Tape(SeedOf(failure.Seed, failure.Run));
        var run = new SuiteRun(failure.Run, tape);
        try
        {
            suite.Run(run);
            return (null, run.Steps);
        }
        catch (Exception e)
        {
            return (e, run.Steps);
        }
    }

    // Neighbouring seeds must not share their runs.
    private static long SeedOf(long seed, long run) => unchecked((seed * 0x5851F42D4C957F2D) + (run * 0x14057B7EF767814F) + 1);

    private bool IsOutOfTime => plan.TimeLimit > TimeSpan.Zero && Stopwatch.GetElapsedTime(_started) > plan.TimeLimit;

    private double Progress()
    {
        double byCount = (double)Interlocked.Read(ref _cases) / Math.Max(1, plan.Count);
        double byTime = plan.TimeLimit > TimeSpan.Zero ? Stopwatch.GetElapsedTime(_started) / plan.TimeLimit : 0;
        return Math.Min(1, Math.Max(byCount, byTime));
    }

    private static bool WaitForAll(Worker[] workers)
    {
        long until = Stopwatch.GetTimestamp() + (long)(Tick.TotalSeconds * Stopwatch.Frequency);
        foreach (Worker worker in workers)
        {
            TimeSpan left = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), until);
            if (!worker.Thread!.Join(left > TimeSpan.Zero ? left : TimeSpan.Zero))
                return false;
        }
        return true;
    }

    private void Work(Worker worker)
    {
        while (!_stop.IsCancellationRequested && Interlocked.Read(ref _cases) < plan.Count)
        {
            long index = Interlocked.Increment(ref _next) - 1;
            if (suite.Runs is { } all && index >= all)
                return;
            var tape = new Tape(SeedOf(plan.Seed, index));
            var run = new SuiteRun(index, tape) { Stop = _stop.Token, Seed = plan.Seed };
            worker.Begin(index);
            try
            {
                suite.Run(run);
            }
            catch (Exception e)
            {
                Fail(index, e, suite.IsReplayable ? tape : null, [.. run.Steps]);
            }
            worker.End();
            Note(run);
        }
    }

    private void Note(SuiteRun run)
    {
        Interlocked.Add(ref _cases, run.Cases);
        lock (_gate)
        {
            _runs++;
            foreach ((string what, long count) in run.Tallies)
                _tallies[what] = _tallies.GetValueOrDefault(what) + count;
        }
    }

    private void Fail(long index, Exception exception, Tape? tape, IReadOnlyList<string> steps)
    {
        lock (_gate)
            _failed ??= (index, exception, tape, steps);
        _stop.Cancel();
    }

    private Failure Keep(long index, Exception exception, Tape? tape, IReadOnlyList<string> steps)
    {
        var failure = new Failure(
            suite.Name, plan.Fault, Ledger.EngineVersion, plan.Seed, index, exception.ToString(), tape?.Drawn.Count ?? 0, 0, tape?.Drawn, steps);
        if (tape is not null && plan.ShrinkTime > TimeSpan.Zero)
        {
            var shrinker = new Shrinker(suite, index, exception.GetType(), plan.ShrinkTime);
            shrinker.Run(tape.Drawn);
            if (shrinker.Shortest is { } shortest)
                failure = failure with { Message = shortest.Message, Script = shortest.Script, Steps = shortest.Steps };
            failure = failure with { Attempts = shrinker.Attempts };
        }
        return plan.FailureDirectory is { } directory ? failure.Save(directory) : failure;
    }

    private sealed class Worker
    {
        private long _since;

        public Thread? Thread { get; set; }

        public long Index { get; private set; }

        public TimeSpan Time => Interlocked.Read(ref _since) is var since && since != 0 ? Stopwatch.GetElapsedTime(since) : TimeSpan.Zero;

        public void Begin(long index)
        {
            Index = index;
            Interlocked.Exchange(ref _since, Stopwatch.GetTimestamp());
        }

        public void End() => Interlocked.Exchange(ref _since, 0);
    }
}
