using Voron.Diagnostics;
using Voron.Opening;
using Voron.Transactions;

namespace Voron;

/// <summary>The figures of an open environment, for its callers, for meters, and for other processes in the status file.</summary>
/// <param name="opened">The environment.</param>
internal sealed class EnvironmentDiagnostics(OpenedEngine opened)
{
    private readonly Engine _engine = opened.Engine;
    private MeasuredEnvironment? _measured;

    private int QueuedOperations => opened.Writing?.GroupCommit.QueuedCount ?? 0;

    /// <inheritdoc cref="StorageEnvironment.GetStatistics"/>
    public EnvironmentStatistics GetStatistics()
    {
        _engine.Users.AddCall();
        try
        {
            return StatisticsCollector.Collect(_engine, opened.Checkpoints, QueuedOperations);
        }
        finally
        {
            _engine.Users.RemoveCall();
        }
    }

    /// <summary>Begins to show figures to meters and other processes.</summary>
    public void Begin()
    {
        _measured = new MeasuredEnvironment(_engine, () => QueuedOperations, opened.Recovered.ReplayedRecords > 0);
        MeterInstruments.Of(_engine.Meter).Add(_measured);
        if (opened.Writing is { } writing)
            BeginStatus(writing);
    }

    /// <summary>Removes the environment from meters, and gives up its name there. The status file ends with the writing.</summary>
    public void End()
    {
        if (_measured != null)
            MeterInstruments.Of(_engine.Meter).Remove(_measured);
        _engine.Name.Dispose();
    }

    // A failure of the status file must not fail the opening.
    private void BeginStatus(WritingParts writing)
    {
        StatusWriter.DeleteLeftover(_engine.Disk);
        if (!StatusWriter.IsWanted(_engine))
            return;
        var status = new StatusWriter(
            _engine, new StatusSource(_engine, opened.Checkpoints, () => QueuedOperations, () => writing.Scheduler.UnflushedJournalBytes));
        opened.Status = status;
        _engine.OnWork = status.OnWork;
    }
}
