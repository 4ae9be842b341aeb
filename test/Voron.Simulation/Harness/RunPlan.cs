namespace Voron.Simulation.Harness;

/// <summary>Specifies how much of a suite to run.</summary>
/// <param name="Count">The number of cases after which no new run begins.</param>
/// <param name="Seed">The seed of the choices.</param>
internal sealed record RunPlan(long Count, long Seed)
{
    /// <summary>The value of <see cref="Count"/> that means as many cases as a full run requests.</summary>
    public const long Full = 0;

    /// <summary>The number of the first run.</summary>
    public long First { get; init; }

    /// <summary>
    /// The time after which no new run begins, and runs that check for it stop; null for no limit. At least one run is made in any case.
    /// </summary>
    public TimeSpan? TimeLimit { get; init; }

    /// <summary>The time to spend on shrinking the scripts of all failures together.</summary>
    public TimeSpan ShrinkTime { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>The number of different failures after which no new run begins.</summary>
    public int MaxFailures { get; init; } = 1;

    /// <summary>The name of the fault that this process has planted, for the ledger.</summary>
    public string? Fault { get; init; }

    /// <summary>The directory in which failures are saved; null to save none.</summary>
    public string? FailureDirectory { get; init; }

    /// <summary>The file in which runs are recorded for a process that outlives this one; null for none.</summary>
    public string? MarksFile { get; init; }

    /// <summary>Whether freed memory is made inaccessible, rather than overwritten.</summary>
    public bool Guard { get; init; }

    /// <summary>The number of threads; zero for the suite's own choice.</summary>
    public int Threads { get; init; }
}
