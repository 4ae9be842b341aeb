using Voron.Simulation.Harness;
using Voron.Torture.Tables;

namespace Voron.Torture.Suites;

/// <summary>A suite whose runs have tables with keys of text, and every third one tables whose keys are row ids.</summary>
internal abstract class TableSuite : Suite
{
    public sealed override void Run(SuiteRun run)
    {
        if (run.Index % 3 == 2)
            Run(run, new RowIdKind());
        else
            Run(run, new TextKind());
    }

    protected abstract void Run<TKey>(SuiteRun run, TableKind<TKey> kind);
}
