using System.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Maintenance;

/// <summary>The verification of an open environment by a caller: of a snapshot, beside everything else, and reported as an activity.</summary>
internal static class VerificationCall
{
    /// <exception cref="ObjectDisposedException">The environment is closed, or was closed during the call, which ended the call.</exception>
    public static VerificationReport Run(ReadingEngine engine) => EngineActivities.IsListening ? RunTraced(engine) : RunNow(engine);

    private static VerificationReport RunNow(ReadingEngine engine) => engine.WhileOpen(engine, static engine =>
    {
        using var reading = new EngineSnapshot(engine);
        return Verifier.Run(engine, reading.Snapshot, engine.Closing.Token);
    });

    private static VerificationReport RunTraced(ReadingEngine engine)
    {
        var began = Stopwatch.GetTimestamp();
        VerificationReport? report = null;
        Exception? failure = null;
        try
        {
            return report = RunNow(engine);
        }
        catch (Exception e)
        {
            failure = e;
            throw;
        }
        finally
        {
            KeyValuePair<string, object?>[] tags = report == null
                ? []
                :
                [
                    new(EngineActivities.TransactionId, report.TransactionId), new(EngineActivities.Trees, report.Trees),
                    new(EngineActivities.Problems, report.Problems.Count),
                ];
            EngineActivities.Report(EngineActivities.Verification, engine.Name.Text, WorkTime.Since(began), tags, failure);
        }
    }
}
