namespace Voron.Simulation.Harness;

/// <summary>One run of a suite: its number, its choices, and its reports.</summary>
/// <param name="index">The number of the run, from 0.</param>
/// <param name="choices">The choices, which decide everything else about the run.</param>
internal sealed class SuiteRun(long index, Tape choices)
{
    private const int MaxSteps = 2_000;

    // Other threads than the run's own read these too: they show how far a hanging run has come.
    private readonly Lock _gate = new();
    private readonly Queue<string> _steps = [];
    private readonly SortedDictionary<string, long> _tallies = new(StringComparer.Ordinal);

    public long Index => index;

    /// <summary>
    /// The seed of the whole call. Decisions that follow from it must go through <see cref="Tape.Choose"/>, or a script does not contain them.
    /// </summary>
    public long Seed { get; init; }

    /// <summary>The source for all random choices: choices drawn elsewhere can be neither shrunk nor replayed.</summary>
    public Tape Choices => choices;

    /// <summary>The number of cases checked so far.</summary>
    public long Cases { get; private set; }

    /// <summary>Cancelled when time is over, or after a failure elsewhere; a long run checks it between its cases.</summary>
    public CancellationToken Stop { get; init; }

    /// <summary>The steps so far, newest last; for a long run, only the newest ones. Any thread may read them.</summary>
    public IReadOnlyList<string> Steps
    {
        get
        {
            lock (_gate)
                return [.. _steps];
        }
    }

    public IReadOnlyDictionary<string, long> Tallies => _tallies;

    public void Count(long cases = 1) => Cases += cases;

    /// <summary>Counts something other than cases that is worth recording in the ledger.</summary>
    public void Tally(string what, long by = 1) => _tallies[what] = _tallies.GetValueOrDefault(what) + by;

    /// <summary>
    /// Begins a step of the script. Shrinking leaves out steps first. The choices from here up to the next step belong to this one.
    /// </summary>
    public void Step(string what)
    {
        choices.Mark();
        Report(what);
    }

    /// <summary>Reports a choice made within a step.</summary>
    public void Report(string what)
    {
        lock (_gate)
        {
            if (_steps.Count == MaxSteps)
                _steps.Dequeue();
            _steps.Enqueue(what);
        }
    }
}
