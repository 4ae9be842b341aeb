using Voron.Torture.Memory;

namespace Voron.Torture.Harness;

/// <summary>
/// One way of attacking the engine. A suite is made of runs, each of which follows from its number and its choices alone unless
/// <see cref="IsReplayable"/> says otherwise; a run looks at one case or at thousands, and throws when a promise is broken.
/// </summary>
/// <remarks>Runs of one suite go on side by side on several threads: what they share must not change.</remarks>
internal abstract class Suite
{
    public abstract string Name { get; }

    /// <summary>What is done, in one line.</summary>
    public abstract string Summary { get; }

    /// <summary>What <see cref="SuiteRun.Count(long)"/> counts.</summary>
    public virtual string Unit => "cases";

    /// <summary>How many of them the ordinary tests ask for.</summary>
    public abstract long TestCount { get; }

    /// <summary>How many a full run asks for.</summary>
    public abstract long FullCount { get; }

    /// <summary>How many different runs there are, when they are enumerated; null when each run is random.</summary>
    public virtual long? Runs => null;

    /// <summary>Whether the same choices fail the same way again, so that a failure can be shrunk and replayed.</summary>
    public virtual bool IsReplayable => true;

    /// <summary>Runs at a time; a suite that has threads or processes of its own takes one.</summary>
    public virtual int Threads => Environment.ProcessorCount;

    /// <summary>Whether it measures its process, in which nothing else must be done meanwhile.</summary>
    public virtual bool NeedsOwnProcess => false;

    /// <summary>A run that takes longer hangs.</summary>
    public virtual TimeSpan RunLimit => TimeSpan.FromMinutes(3);

    /// <summary>Why this system cannot run it; null where it can.</summary>
    public virtual string? UnfitHere => null;

    /// <summary>What this suite would not see, for the ledger.</summary>
    public virtual IReadOnlyList<string> NotCovered => [];

    /// <exception cref="Exception">The engine has failed.</exception>
    /// <param name="run">The choices to follow, and where to count.</param>
    public abstract void Run(SuiteRun run);

    /// <summary>Makes a run, and looks at what the engine has done to memory meanwhile.</summary>
    /// <inheritdoc cref="Run"/>
    public void RunGuarded(SuiteRun run)
    {
        MemoryCase memory = MemoryCase.Begin();
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
