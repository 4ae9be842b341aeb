using Voron.Simulation.Harness;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Suites;

/// <summary>Definitions of a table that come and go while its rows change, with power cuts and kills at any call.</summary>
internal sealed class EvolveSuite : TableSuite
{
    public override string Name => "evolve";

    public override string Summary =>
        "indexes come and go while rows change, in small steps that are stopped, cut and killed at any call: each ready index agrees with the rows";

    public override string Unit => "cuts";

    public override long TestCount => 800;

    public override long FullCount => 100_000;

    public override IReadOnlyList<string> NotCovered => ["other threads within a step, which holds the writer: rows change between the steps"];

    protected override void Run<TKey>(SuiteRun run, TableKind<TKey> kind)
    {
        EvolveRun<TKey>? evolutions = null;
        try
        {
            evolutions = new EvolveRun<TKey>(run, kind);
            evolutions.Run();
            evolutions.Dispose();
        }
        catch
        {
            SafeDisposal.Dispose(evolutions);
            throw;
        }
    }
}
