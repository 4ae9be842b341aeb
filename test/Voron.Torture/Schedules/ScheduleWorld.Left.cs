using Voron.Simulation.Harness;
using Voron.Torture.Model;

namespace Voron.Torture.Schedules;

// What a schedule leaves, and must find again.
internal sealed partial class ScheduleWorld
{
    private void LookAgain(in Left left, string who, Action<StorageEnvironment>? also = null)
    {
        using var environment = left.Place.Open(ScheduleScript.OptionsWith());
        using var reading = environment.BeginRead();
        var id = reading.TransactionId;
        BrokenPromiseException.Require(
            id < _model.NotCommitted, $"{who}: transaction {id} is the newest, and transaction {_model.NotCommitted} was said not to be committed.");
        BrokenPromiseException.Require(
            id >= left.Acknowledged && (id <= left.Newest || _model.HasForeignTransactions),
            $"{who}: transaction {id} is the newest, of {left.Acknowledged} to {left.Newest}.");
        _model.CheckAll(reading, who);
        ScheduleModel.CheckNothingAttached(reading, who);
        RequireSound(environment, who);
        _backups.CheckNamed(environment, left.Backups);
        also?.Invoke(environment);
    }

    /// <summary>The files that a closed environment or a killed process leaves, and the promises that they must keep.</summary>
    /// <param name="Place">The files.</param>
    /// <param name="Acknowledged">The transaction that they must have.</param>
    /// <param name="Newest">The newest one that they can have.</param>
    /// <param name="Backups">The backups that were finished.</param>
    private readonly record struct Left(ModelPlace Place, long Acknowledged, long Newest, IReadOnlyList<string> Backups);
}
