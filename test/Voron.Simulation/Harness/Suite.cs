using Voron.Simulation.Memory;

namespace Voron.Simulation.Harness;

/// <summary>
/// One way of attacking the engine. A suite consists of runs. Unless <see cref="IsReplayable"/> says otherwise, a run is fully determined by
/// its number and its choices. A run checks one case or thousands, and throws if a promise is broken.
/// </summary>
/// <remarks>Runs of one suite execute in parallel on several threads, so their shared state must not change.</remarks>
internal abstract class Suite
{
    public abstract string Name { get; }

    /// <summary>A description of the suite in one line.</summary>
    public abstract string Summary { get; }

    /// <summary>The unit that <see cref="SuiteRun.Count(long)"/> counts.</summary>
    public virtual string Unit => "cases";

    /// <summary>The number of cases of the full tests, before a release. The ordinary tests request a twentieth.</summary>
    public abstract long TestCount { get; }

    /// <summary>The number of cases that a full run requests.</summary>
    public abstract long FullCount { get; }

    /// <summary>The number of different runs, if they are enumerated; null if each run is random.</summary>
    public virtual long? Runs => null;

    /// <summary>Whether the same choices fail the same way again, so that a failure can be shrunk and replayed.</summary>
    public virtual bool IsReplayable => true;

    /// <summary>The number of parallel runs; a suite with its own threads or processes uses one.</summary>
    public virtual int Threads => Environment.ProcessorCount;

    /// <summary>Whether the suite measures its process, which must do nothing else meanwhile.</summary>
    public virtual bool NeedsOwnProcess => false;

    /// <summary>The longest duration of a run; a run that takes longer hangs.</summary>
    public virtual TimeSpan RunLimit => TimeSpan.FromMinutes(3);

    /// <summary>The reason why this system cannot run the suite; null if it can.</summary>
    public virtual string? UnfitHere => null;

    /// <summary>The problems that this suite would not detect, for the ledger.</summary>
    public virtual IReadOnlyList<string> NotCovered => [];

    /// <exception cref="Exception">The engine has failed.</exception>
    /// <param name="run">Provides the choices to follow, and counts the cases.</param>
    public abstract void Run(SuiteRun run);

    /// <summary>Makes a run, and checks how the engine has used memory meanwhile.</summary>
    /// <inheritdoc cref="Run"/>
    public void RunGuarded(SuiteRun run)
    {
        var memory = MemoryCase.Begin();
        Exception? thrown = null;
        try
        {
            Run(run);
        }
        catch (Exception e)
        {
            thrown = e;
            throw;
        }
        finally
        {
            memory.End(thrown);
        }
    }
}
