using System.Diagnostics;
using Voron.Paging;
using Voron.Recovery;
using Voron.Transactions;

namespace Voron.Opening;

/// <summary>An opened engine and the parts that belong to it until it is closed. Releases the parts in the right order.</summary>
internal sealed class OpenedEngine
{
    private readonly EnvironmentLock _lock;
    private readonly CommitPublisher _publisher;

    /// <param name="directoryLock">The lock of the directory.</param>
    /// <param name="engine">The engine.</param>
    /// <param name="checkpoints">The header.</param>
    /// <param name="publisher">Publishes committed states.</param>
    /// <param name="recovered">The result of recovery.</param>
    public OpenedEngine(
        EnvironmentLock directoryLock, Engine engine, HeaderFile checkpoints, CommitPublisher publisher, RecoveryResult recovered)
    {
        _lock = directoryLock;
        Engine = engine;
        Checkpoints = checkpoints;
        _publisher = publisher;
        Recovered = recovered;
        RecoveredTransactions = recovered.State.TransactionId - checkpoints.Current.State.TransactionId;
        engine.Users.Path = engine.Disk.Path;
        engine.Users.Released = Release;
        Readers = new ReaderPool(engine, OnReaderLeaked);
    }

    public Engine Engine { get; }

    public HeaderFile Checkpoints { get; }

    public RecoveryResult Recovered { get; }

    public ReaderPool Readers { get; }

    /// <summary>Null while the environment is being opened, and when that is for reading only.</summary>
    public WritingParts? Writing { get; private set; }

    /// <summary>Shows the figures to other processes; null if there is none. Ends before all other writers.</summary>
    public IDisposable? Status { get; set; }

    /// <summary>The number of transactions since the checkpoint that recovery has found.</summary>
    public long RecoveredTransactions { get; }

    /// <summary>Begins the parts that only an environment open for writing has.</summary>
    /// <param name="begin">Takes the writer and begins a transaction for a group commit.</param>
    public WritingParts BeginWriting(Func<WriteTransactionBody> begin) =>
        Writing = new WritingParts(Engine, Checkpoints, _publisher, Recovered, begin);

    /// <summary>Ends everything after the opening has failed.</summary>
    public void Abandon()
    {
        Writing?.Abandon();
        CloseWriting();
        Release();
    }

    /// <summary>Closes everything that writes; the resources of readers stay until <see cref="Release"/>.</summary>
    public void CloseWriting()
    {
        Status?.Dispose();
        Engine.Journal?.Dispose();
        Engine.JournalFiles?.Dispose();
        Engine.ChangedPages?.Dispose();
    }

    /// <summary>Releases all resources. Called when the environment is closed and its last user has ended.</summary>
    public void Release()
    {
        // The user may keep the environment's object for long, but not the objects that were attached to the last commits.
        Writing?.Forget();
        Readers.Forget();
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

    private void OnReaderLeaked(long snapshotId, StackTrace? openedAt)
    {
        TransactionLog.ReaderLeaked(Engine.Logger, Engine.Disk.Path, snapshotId, TransactionLog.Describe(openedAt));
        Interlocked.Increment(ref Engine.Counters.LeakedReaders);
    }
}
