using Voron.Simulation.Harness;
using Voron.Torture.Model;

namespace Voron.Torture.Suites;

/// <summary>Compares random operations on the whole public interface with sorted sets.</summary>
internal sealed class ModelSuite : Suite
{
    private const int OperationsPerRun = 18_000;

    public override string Name => "model";

    public override string Summary => "random operations of the whole public interface compared with sorted sets, with any option; in a quarter of the runs, dropped trees beside them; in another, compressed values";

    public override string Unit => "operations";

    public override long TestCount => 1_000_000;

    public override long FullCount => 1_000_000_000;

    // A flusher in the background makes its own choices.
    public override IReadOnlyList<string> NotCovered => ["a failure that needs the background flusher at one certain moment is found, but may not be reproduced by a replay"];

    public override void Run(SuiteRun run)
    {
        var observer = new ModelObserver();
        var settings = ModelSettings.Draw(run.Choices, observer);
        if (run.Index % 4 == 3)
            settings = settings.WithDrops(run.Choices);
        else if (run.Index % 4 == 1)
            settings = settings.WithCompression();
        ModelRun? model = null;
        try
        {
            model = new ModelRun(settings, run.Choices, observer);
            model.Run(OperationsPerRun);
            model.Dispose();
        }
        catch (Exception e)
        {
            run.Step($"{settings}\n{model?.History.Describe((e as ModelMismatchException)?.Key)}");
            SafeDisposal.Dispose(model);
            throw;
        }
        finally
        {
            run.Count(model?.History.Operations ?? 0);
        }
    }
}
