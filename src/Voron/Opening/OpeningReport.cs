using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Opening;

/// <summary>Reports the opening of an environment to the log and to listeners.</summary>
internal static class OpeningReport
{
    /// <summary>Reports that an environment could not be opened. The caller holds no lock.</summary>
    /// <param name="path">Its path.</param>
    /// <param name="options">Its options.</param>
    /// <param name="began">The timestamp at which the opening began.</param>
    /// <param name="failure">The reason.</param>
    public static void ReportFailed(string path, StorageOptions options, long began, Exception failure)
    {
        if (EngineActivities.IsListening)
            EngineActivities.Report(EngineActivities.Open, options.Name ?? path, WorkTime.Since(began), [], failure);
    }

    /// <summary>Reports that an environment is open. The caller holds no lock.</summary>
    /// <param name="opened">The environment.</param>
    /// <param name="began">The timestamp at which the opening began.</param>
    public static void Report(OpenedEngine opened, long began)
    {
        var (engine, recovered) = (opened.Engine, opened.Recovered);
        var milliseconds = (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds;
        var recoveryMilliseconds = (long)recovered.Duration.TotalMilliseconds;
        EnvironmentLog.Opened(
            engine.Logger, engine.Disk.Path, engine.Options.ReadOnly ? "for reading" : "for writing", recovered.State.TransactionId, engine.PageSize,
            milliseconds, opened.RecoveredTransactions, recovered.ReplayedBytes, recoveryMilliseconds);
        if (recovered.ReplayedRecords > 0)
            engine.Observers.Durations.Record(TimedWork.Recovery, recovered.Duration);
        if (EngineActivities.IsListening)
            ReportActivities(opened, began);
        engine.Observers.CallHere();
    }

    private static void ReportActivities(OpenedEngine opened, long began)
    {
        var (engine, recovered) = (opened.Engine, opened.Recovered);
        var time = WorkTime.Since(began);
        var context = EngineActivities.Report(
            EngineActivities.Open, engine.Name.Text, time,
            [
                new(EngineActivities.TransactionId, recovered.State.TransactionId), new(EngineActivities.PageSize, engine.PageSize),
                new(EngineActivities.Transactions, opened.RecoveredTransactions),
            ]);
        if (recovered.ReplayedRecords == 0 || context == default)
            return;
        EngineActivities.Report(
            EngineActivities.Recovery, engine.Name.Text, new WorkTime(time.End - recovered.Duration, time.End),
            [
                new(EngineActivities.TransactionId, recovered.State.TransactionId), new(EngineActivities.Transactions, opened.RecoveredTransactions),
                new(EngineActivities.Records, recovered.ReplayedRecords), new(EngineActivities.Bytes, recovered.ReplayedBytes),
            ],
            parent: context);
    }
}
