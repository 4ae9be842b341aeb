namespace Voron.Torture.Harness;

/// <summary>One run of a suite: its number, its choices, and what it has to tell.</summary>
/// <param name="index">The number of the run, from 0.</param>
/// <param name="choices">Decides everything else about it.</param>
internal sealed class SuiteRun(long index, Tape choices)
{
    private const int MaxSteps = 2_000;

    // Not only the run's own thread looks at them: of a run that hangs they tell how far it has come.
    private readonly Lock _gate = new();
    private readonly Queue<string> _steps = [];
    private readonly SortedDictionary<string, long> _tallies = new(StringComparer.Ordinal);

    public long Index => index;

    /// <summary>Of the whole call. What follows from it has to go through <see cref="Tape.Choose"/>, or a script does not say it.</summary>
    public long Seed { get; init; }

    /// <summary>To be handed to everything that draws: what is drawn elsewhere can be neither shrunk nor replayed.</summary>
    public Tape Choices => choices;

    /// <summary>Cases looked at so far.</summary>
    public long Cases { get; private set; }

    /// <summary>Asked for by the clock or a failure elsewhere; a long run looks at it between its cases.</summary>
    public CancellationToken Stop { get; init; }

    /// <summary>What was done so far, newest last; of a long run, the newest. Any thread may ask.</summary>
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

    /// <summary>Counts something for the ledger that is worth knowing besides the number of cases.</summary>
    public void Tally(string what, long by = 1) => _tallies[what] = _tallies.GetValueOrDefault(what) + by;

    /// <summary>
    /// Begins a step of the script. Steps are what shrinking leaves out first: choices from here on, to the next step, belong
    /// to this one.
    /// </summary>
    public void Step(string what)
    {
        choices.Mark();
        Tell(what);
    }

    /// <summary>Says what has been chosen within a step.</summary>
    public void Tell(string what)
    {
        lock (_gate)
        {
            if (_steps.Count == MaxSteps)
                _steps.Dequeue();
            _steps.Enqueue(what);
        }
    }
}
