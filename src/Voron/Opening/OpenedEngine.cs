using Voron.Paging;
using Voron.Recovery;
using Voron.Transactions;

namespace Voron.Opening;

/// <summary>An opened engine and the parts that belong to it until it is closed. Releases the parts in the right order.</summary>
internal sealed class OpenedEngine
{
    private readonly EnvironmentLock _lock;

    /// <param name="directoryLock">The lock of the directory.</param>
    /// <param name="engine">The engine.</param>
    /// <param name="checkpoints">The header.</param>
    /// <param name="publisher">Publishes committed states.</param>
    /// <param name="recovered">The result of recovery.</param>
    public OpenedEngine(
        EnvironmentLock directoryLock, Engine engine, CheckpointFile checkpoints, CommitPublisher publisher, RecoveryResult recovered)
    {
        _lock = directoryLock;
        Engine = engine;
        Checkpoints = checkpoints;
        Publisher = publisher;
        Recovered = recovered;
        RecoveredTransactions = recovered.State.TransactionId - checkpoints.Current.State.TransactionId;
    }

    public Engine Engine { get; }

    public CheckpointFile Checkpoints { get; }

    public CommitPublisher Publisher { get; }

    public RecoveryResult Recovered { get; }

    /// <summary>Shows the figures to other processes; null if there is none. Ends before all other writers.</summary>
    public IDisposable? Status { get; set; }

    /// <summary>The number of transactions since the checkpoint that recovery has found.</summary>
    public long RecoveredTransactions { get; }

    /// <summary>The number of bytes of the journal files that were replayed and await a flush; 0 after a clean close.</summary>
    public long ReplayedBytes => Recovered.ReplayedRecords == 0 ? 0 : Engine.JournalFiles?.LiveRecordBytes ?? 0;

    /// <summary>Closes everything that writes; the resources of readers stay until <see cref="Release"/>.</summary>
    public void CloseWriting()
    {
        Status?.Dispose();
        Engine.Journal?.Dispose();
        Engine.JournalFiles?.Dispose();
        Engine.Changes?.Dispose();
    }

    /// <summary>Releases all resources. Called when the environment is closed and its last user has ended.</summary>
    public void Release()
    {
        ClosedEnvironments.Remove(Engine);
        try
        {
            Checkpoints.Dispose();
            Engine.DataFile.Dispose();
            Engine.Versions.Dispose();
            Engine.BranchKeyHeads.Dispose();
            Engine.DataFileKeyHeads?.Dispose();
            Engine.Frames.Dispose();
            (Engine.Snapshots.Dictionaries as IDisposable)?.Dispose();
            Engine.Readers.Dispose();
            Engine.Ring.Dispose();
            Engine.Memory.Dispose();
        }
        finally
        {
            Engine.Name.Dispose();
            _lock.Dispose();
            Engine.Disk.Dispose();
        }
    }
}
