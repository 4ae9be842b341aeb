using System.Diagnostics;
using Voron.Diagnostics;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron;

/// <content>Statistics, metrics, activities and the view of a debugger.</content>
[DebuggerDisplay("{ToString(),nq}")]
[DebuggerTypeProxy(typeof(DebugView))]
public sealed partial class StorageEnvironment
{
    private MeasuredEnvironment? _measured;

    /// <summary>
    /// The name of the environment in metrics and activities: <see cref="StorageOptions.Name"/>, or else <see cref="Path"/>, with a number where the
    /// process has opened another environment of that name before and not closed it, such as <c>memory#2</c>.
    /// </summary>
    public string Name => _engine.Name.Text;

    /// <summary>
    /// Returns statistics about the environment's activity and content. Takes no lock, waits for no other thread and calls no observer, so it suits
    /// health checks. Queries the free space of the volume from the system.
    /// </summary>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public EnvironmentStatistics GetStatistics()
    {
        _engine.Users.AddCall();
        try
        {
            return StatisticsCollector.Collect(_engine, _opened.Checkpoints, _writing?.GroupCommit.QueuedCount ?? 0);
        }
        finally
        {
            _engine.Users.RemoveCall();
        }
    }

    /// <summary>Describes the environment by its path and its state.</summary>
    public override string ToString() => $"environment '{Path}' ({DescribeState()})";

    private string DescribeState() =>
        Volatile.Read(ref _disposed) != 0 ? "closed"
        : _engine.Poison.IsPoisoned ? "poisoned: refuses writes"
        : _writing is not { } writing ? "open for reading"
        : writing.Transactions.IsOpen ? DescribeTransaction(writing.Writer)
        : "open";

    private static string DescribeTransaction(Writer writer) =>
        $"open, write transaction {writer.TransactionId} for {Environment.TickCount64 - writer.Origin.BeganTick} ms, begun by thread {writer.BeganBy}";

    private void BeginMeasuring()
    {
        _measured = new MeasuredEnvironment(_engine, () => _writing?.GroupCommit.QueuedCount ?? 0, _opened.Recovered.ReplayedRecords > 0);
        MeterInstruments.Of(_engine.Meter).Add(_measured);
    }

    // A status file is no reason for an opening to fail.
    private void BeginStatus()
    {
        if (_writing is not { } writing)
            return;
        StatusWriter.DeleteLeftover(_engine.Disk);
        if (!StatusWriter.IsWanted(_engine))
            return;
        var status = new StatusWriter(
            _engine, new StatusSource(_engine, _opened.Checkpoints, () => writing.GroupCommit.QueuedCount, () => writing.Scheduler.UnflushedJournalBytes));
        _opened.Status = status;
        _engine.OnWork = status.OnWork;
    }

    private void EndMeasuring()
    {
        if (_measured != null)
            MeterInstruments.Of(_engine.Meter).Remove(_measured);
        _engine.Name.Dispose();
    }

    private VerificationReport VerifyTraced()
    {
        var began = Stopwatch.GetTimestamp();
        VerificationReport? report = null;
        Exception? failure = null;
        try
        {
            return report = VerifyNow();
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
            EngineActivities.Report(EngineActivities.Verification, Name, WorkTime.Since(began), tags, failure);
        }
    }

    /// <summary>The environment as a debugger shows it, open or closed.</summary>
    private sealed class DebugView(StorageEnvironment environment)
    {
        public string Path => environment.Path;

        public string Name => environment.Name;

        public string State => environment.DescribeState();

        public StorageOptions Options => environment.Options;

        public RecoveryReport Recovery => environment.Recovery;

        /// <summary>Null when the environment is closed.</summary>
        public EnvironmentStatistics? Statistics
        {
            get
            {
                try
                {
                    return environment.GetStatistics();
                }
                catch (Exception)
                {
                    return null;
                }
            }
        }
    }
}
