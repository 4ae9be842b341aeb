using Voron.Simulation.Harness;
using Voron.Torture.Model;
using Voron.Torture.Tables;

namespace Voron.Torture.Suites;

/// <summary>Compares tables and their indexes with dictionaries.</summary>
internal sealed class IndexAgreementSuite : TableSuite
{
    private const int CallsPerRun = 4_000;

    public override string Name => "index-agreement";

    public override string Summary =>
        "random changes of a table with indexes of every kind: each answer, each refusal and each index agrees with a dictionary of the rows";

    public override string Unit => "calls";

    public override long TestCount => 800_000;

    public override long FullCount => 100_000_000;

    public override IReadOnlyList<string> NotCovered => ["functions that return different keys for the same row at different times"];

    protected override void Run<TKey>(SuiteRun run, TableKind<TKey> kind)
    {
        AgreementRun<TKey>? agreement = null;
        try
        {
            agreement = new AgreementRun<TKey>(run, kind);
            agreement.Run(CallsPerRun);
            agreement.Dispose();
        }
        catch
        {
            SafeDisposal.Dispose(agreement);
            throw;
        }
        finally
        {
            run.Count(agreement?.Calls ?? 0);
        }
    }
}
