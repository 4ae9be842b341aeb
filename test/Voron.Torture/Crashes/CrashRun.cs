using Voron.Simulation.Harness;

namespace Voron.Torture.Crashes;

/// <summary>The part that the runs of all suites about crashes have in common.</summary>
internal static class CrashRun
{
    public static void Make(SuiteRun run, CrashPlan plan)
    {
        var counts = new CrashCounts();
        try
        {
            new CrashChecker(run, counts, plan).Run();
        }
        finally
        {
            counts.AddTo(run);
        }
    }
}
