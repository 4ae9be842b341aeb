namespace Voron.Torture.Harness;

/// <summary>How much of a suite to run.</summary>
/// <param name="Count">Cases after which no new run begins.</param>
/// <param name="Seed">Where the choices come from.</param>
internal sealed record RunPlan(long Count, long Seed)
{
    /// <summary>As many cases as a full run asks for.</summary>
    public const long Full = 0;

    /// <summary>The number of the first run.</summary>
    public long First { get; init; }

    /// <summary>After so long no new run begins, and those that look stop; null for never. One run is made in any case.</summary>
    public TimeSpan? TimeLimit { get; init; }

    /// <summary>How long to look for shorter scripts of all failures together.</summary>
    public TimeSpan ShrinkTime { get; init; } = TimeSpan.FromSeconds(60);

    /// <summary>Different failures after which no new run begins.</summary>
    public int MaxFailures { get; init; } = 1;

    /// <summary>The name of the fault that this process has planted, for the ledger.</summary>
    public string? Fault { get; init; }

    /// <summary>Where failures are saved; null for nowhere.</summary>
    public string? FailureDirectory { get; init; }

    /// <summary>Where runs are noted for whoever outlives this process; null for nowhere.</summary>
    public string? MarksFile { get; init; }

    /// <summary>Freed memory is out of reach, rather than overwritten.</summary>
    public bool Guard { get; init; }

    /// <summary>Zero for as many as the suite likes.</summary>
    public int Threads { get; init; }
}
