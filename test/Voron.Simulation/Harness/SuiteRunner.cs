using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Voron.Simulation.Memory;

namespace Voron.Simulation.Harness;

/// <summary>
/// Makes the runs of a suite on several threads, until there were enough cases, time has run out, or enough runs have failed, each in a
/// different way.
/// </summary>
[SuppressMessage("Design", "CA1001", Justification = "A run that hangs may look at the token for as long as the process lives.")]
internal sealed class SuiteRunner
{
    /// <summary>The number of failed runs after which to stop: if every run fails in the same way, there is nothing more to learn.</summary>
    private const int MaxFailedRuns = 1_000;

    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(100);

    /// <summary>The memory of a transaction that was never ended is freed ten seconds after the garbage collector has found it.</summary>
    private static readonly TimeSpan LeakPatience = TimeSpan.FromSeconds(40);

    private readonly Suite _suite;
    private readonly RunPlan _plan;
    private readonly long _count;
    private readonly RunMarks? _marks;
    private readonly CancellationTokenSource _stop = new();
    private readonly Lock _gate = new();
    private readonly SortedDictionary<string, long> _tallies = new(StringComparer.Ordinal);
    private readonly List<Failure> _found = [];
    private readonly long _started = Stopwatch.GetTimestamp();
    private long _next;
    private long _runs;
    private long _cases;
    private long _failedRuns;

    public SuiteRunner(Suite suite, RunPlan plan)
    {
        _suite = suite;
        _plan = plan;
        _next = plan.First;
        _count = plan.Count == RunPlan.Full ? suite.FullCount : plan.Count;
        _marks = plan.MarksFile is { } file ? new RunMarks(file) : null;
    }

    private bool IsOutOfTime => _plan.TimeLimit is { } limit && Stopwatch.GetElapsedTime(_started) > limit;

    /// <param name="onProgress">Called with the completed fraction, from 0 to 1, a few times a second.</param>
    public SuiteResult Run(Action<double>? onProgress = null)
    {
        var date = DateTimeOffset.UtcNow;
        Worker[] workers = [.. Enumerable.Range(0, _plan.Threads > 0 ? _plan.Threads : _suite.Threads).Select(number => new Worker(number))];
        foreach (var worker in workers)
        {
            // A run that hangs must not keep the process alive.
            worker.Thread = new Thread(() => Work(worker), Attempt.StackBytes) { IsBackground = true, Name = _suite.Name };
            worker.Thread.Start();
        }
        while (!WaitForAll(workers))
        {
            onProgress?.Invoke(Progress());
            if (IsOutOfTime)
                _stop.Cancel();
            if (workers.Select(worker => worker.Overdue(_suite.RunLimit)).FirstOrDefault(run => run is not null) is { } hanging)
            {
                var timeout = new TimeoutException($"Run {hanging.Index} has run for {_suite.RunLimit.TotalSeconds:0} s: it hangs.");
                Fail(hanging, timeout, null, FailureKind.Hang);
                _stop.Cancel();
                break;
            }
        }
        RequireNothingLeft();
        IReadOnlyList<Failure> failures = ShrinkAll();
        lock (_gate)
        {
            return new SuiteResult(
                _suite.Name, _suite.Unit, Ledger.EngineVersion, date, _plan.Fault, _plan.Seed, _plan.First, _runs, _cases, _count, _suite.FullCount,
                _suite.Runs is { } all && _plan.First == 0 && _runs >= all, Stopwatch.GetElapsedTime(_started).TotalSeconds,
                new SortedDictionary<string, long>(_tallies, StringComparer.Ordinal), failures, _suite.NotCovered)
            {
                IsEnumerated = _suite.Runs is not null,
            };
        }
    }

    /// <summary>Runs a failure again: its script, or the choices that follow from its seed.</summary>
    /// <param name="suite">The suite that failed.</param>
    /// <param name="failure">The failure as it was saved.</param>
    /// <param name="asFound">Whether to take the script as it was before it was shrunk.</param>
    public static Attempt Replay(Suite suite, Failure failure, bool asFound = false)
    {
        var script = asFound ? failure.Found?.Script ?? failure.Script : failure.Script;
        var tape = script is not null ? new Tape(script) : new Tape(SeedOf(failure.Seed, failure.Run));
        return Attempt.Make(suite, failure.Run, failure.Seed, tape, suite.RunLimit);
    }

    // Neighbouring seeds must not share their runs.
    private static long SeedOf(long seed, long run) => unchecked((seed * 0x5851F42D4C957F2D) + (run * 0x14057B7EF767814F) + 1);

    private double Progress()
    {
        var byCount = (double)Interlocked.Read(ref _cases) / Math.Max(1, _count);
        var byTime = _plan.TimeLimit is { } limit && limit > TimeSpan.Zero ? Stopwatch.GetElapsedTime(_started) / limit : 0;
        return Math.Min(1, Math.Max(byCount, byTime));
    }

    // Memory that a failing or hanging run leaves behind is no leak.
    private void RequireNothingLeft()
    {
        lock (_gate)
        {
            if (_failedRuns > 0)
                return;
        }
        try
        {
            MemoryCase.RequireNothingLeft(LeakPatience);
        }
        catch (BrokenPromiseException e)
        {
            Fail(new SuiteRun(_plan.First, new Tape(0)), e, null, FailureKind.Broken);
        }
    }

    private static bool WaitForAll(Worker[] workers)
    {
        var until = Stopwatch.GetTimestamp() + (long)(Tick.TotalSeconds * Stopwatch.Frequency);
        foreach (var worker in workers)
        {
            var left = Stopwatch.GetElapsedTime(Stopwatch.GetTimestamp(), until);
            if (!worker.Thread!.Join(left > TimeSpan.Zero ? left : TimeSpan.Zero))
                return false;
        }
        return true;
    }

    private void Work(Worker worker)
    {
        while (!_stop.IsCancellationRequested && Interlocked.Read(ref _cases) < _count)
        {
            var index = Interlocked.Increment(ref _next) - 1;
            if (_suite.Runs is { } all && index >= all)
                return;
            var tape = new Tape(SeedOf(_plan.Seed, index));
            var run = new SuiteRun(index, tape) { Stop = _stop.Token, Seed = _plan.Seed };
            worker.Begin(run);
            _marks?.Begin(worker.Number, index);
            try
            {
                _suite.RunGuarded(run);
            }
            catch (Exception e)
            {
                Fail(run, e, _suite.IsReplayable ? tape : null, FailureSignature.IsOfMachine(e) ? FailureKind.Machine : FailureKind.Broken);
            }
            worker.End();
            _marks?.End(worker.Number);
            Note(run);
        }
    }

    private void Note(SuiteRun run)
    {
        Interlocked.Add(ref _cases, run.Cases);
        lock (_gate)
        {
            _runs++;
            foreach ((var what, var count) in run.Tallies)
                _tallies[what] = _tallies.GetValueOrDefault(what) + count;
            _marks?.Note(_runs, Interlocked.Read(ref _cases), Interlocked.Read(ref _next));
        }
    }

    private void Fail(SuiteRun run, Exception exception, Tape? tape, FailureKind kind)
    {
        var signature = FailureSignature.Of(exception);
        lock (_gate)
        {
            if (_found.Count < _plan.MaxFailures && _found.All(known => known.Signature != signature))
            {
                var failure = new Failure(
                    _suite.Name, _plan.Fault, Ledger.EngineVersion, _plan.Seed, run.Index, exception.ToString(), tape?.Drawn.Count ?? 0, 0,
                    tape is null ? null : [.. tape.Drawn], run.Steps);
                _found.Add(TrySave(failure with { Kind = kind, Guard = _plan.Guard, Signature = signature }));
            }
            _failedRuns++;
            if (_found.Count < _failedRuns)
                _tallies["runs that failed in ways known by then"] = _failedRuns - _found.Count;
            if (_found.Count >= _plan.MaxFailures || _failedRuns >= MaxFailedRuns)
                _stop.Cancel();
        }
    }

    // Saves at once, so that no later event can lose the failure. A failure to write here is reported at the end.
    private Failure TrySave(Failure failure)
    {
        try
        {
            return _plan.FailureDirectory is { } directory ? failure.Save(directory) : failure;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return failure;
        }
    }

    private List<Failure> ShrinkAll()
    {
        Failure[] found;
        lock (_gate)
            found = [.. _found];
        var started = Stopwatch.GetTimestamp();
        var shrunk = new List<Failure>();
        for (var i = 0; i < found.Length; i++)
        {
            var left = _plan.ShrinkTime - Stopwatch.GetElapsedTime(started);
            shrunk.Add(Shrink(found[i], left / (found.Length - i)));
        }
        return shrunk;
    }

    private Failure Shrink(Failure failure, TimeSpan limit)
    {
        if (failure.Script is { } script && limit > TimeSpan.Zero)
        {
            var shrinker = new Shrinker(_suite, failure.Run, failure.Seed, failure.Signature, limit);
            shrinker.Run(script);
            if (shrinker.Shortest is { } shortest)
            {
                failure = failure with
                {
                    Found = new FailedRun(failure.Message, script, failure.Steps),
                    Message = shortest.Message,
                    Script = shortest.Script,
                    Steps = shortest.Steps,
                };
            }
            failure = failure with { Attempts = shrinker.Attempts };
        }
        return _plan.FailureDirectory is { } directory ? failure.Save(directory) : failure;
    }

    private sealed class Worker(int number)
    {
        private long _since;
        private volatile SuiteRun? _run;

        public int Number => number;

        public Thread? Thread { get; set; }

        public void Begin(SuiteRun run)
        {
            _run = run;
            Interlocked.Exchange(ref _since, Stopwatch.GetTimestamp());
        }

        public void End() => Interlocked.Exchange(ref _since, 0);

        /// <summary>Returns the run if it has run for longer than the limit, or null.</summary>
        public SuiteRun? Overdue(TimeSpan limit) =>
            Interlocked.Read(ref _since) is var since && since != 0 && Stopwatch.GetElapsedTime(since) > limit ? _run : null;
    }
}
