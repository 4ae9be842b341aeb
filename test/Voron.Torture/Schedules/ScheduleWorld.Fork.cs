using Voron.Simulation.Harness;
using Voron.Testing;

namespace Voron.Torture.Schedules;

// Readers that fork others and end, so that a snapshot passes from one to the next, and from thread to thread.
internal sealed partial class ScheduleWorld
{
    // The reader that other threads may fork. Its thread takes it away before it ends it.
    private Shared? _shared;

    private void Fork(string who, int times)
    {
        var reading = BeginOrFork(who);
        try
        {
            var id = reading.TransactionId;
            var shared = Share(reading);
            for (var i = 0; i < times; i++)
            {
                var fork = reading.Fork();
                Unshare(shared);
                reading.Dispose();
                reading = fork;
                RequireSnapshot(who, fork, id);
                shared = Share(fork);
                SchedulePoint.Reach(SchedulePlace.Script);
            }

            _model.CheckAll(reading, who);
            _model.CheckAttached(reading, who);
            Unshare(shared);
        }
        finally
        {
            reading.Dispose();
        }
    }

    private ReadTransaction BeginOrFork(string who)
    {
        if (_shared is not { } shared)
            return BeginRead(who);
        ReadTransaction fork;
        try
        {
            fork = shared.Reading.Fork();
        }
        catch (ObjectDisposedException) when (_shared != shared)
        {
            return BeginRead(who);
        }

        RequireSnapshot(who, fork, shared.Id);
        return fork;
    }

    private Shared Share(ReadTransaction reading) => _shared = new Shared(reading, reading.TransactionId);

    private void Unshare(Shared shared)
    {
        if (_shared == shared)
            _shared = null;
    }

    private static void RequireSnapshot(string who, ReadTransaction fork, long id) => BrokenPromiseException.Require(
        fork.TransactionId == id, $"{who} forks a reader of transaction {id}, and the fork reads transaction {fork.TransactionId}.");

    /// <summary>A reader, and the transaction that it sees.</summary>
    private sealed class Shared(ReadTransaction reading, long id)
    {
        public ReadTransaction Reading => reading;

        public long Id => id;
    }
}
