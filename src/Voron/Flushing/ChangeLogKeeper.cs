using Voron.ChangeTracking;
using Voron.Format;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Begins the change log, and adds backups to it that later ones can build on. The flusher itself continues it.</summary>
/// <param name="flush">The flusher's lock.</param>
internal sealed class ChangeLogKeeper(
    EngineLock flush, ReadingEngine engine, ChangedPageTracker changes, HeaderFile checkpoints, CheckpointMover mover, SingleWriter writer)
{
    private const int NoGeneration = -1;

    private bool _isClosed;

    /// <summary>Begins the change log, unless one exists. From then on it contains the changes after a published state.</summary>
    /// <remarks>
    /// A transaction submitted before its direct writes were noted must not follow the state from which on the log contains all changes. This
    /// method therefore waits until the last of these transactions is durable, which takes no longer than a commit.
    /// </remarks>
    /// <param name="patience">The longest time to wait for the writer.</param>
    /// <param name="stop">Cancels that wait.</param>
    /// <returns>
    /// False if the environment's format version has no change log, or another caller held the writer the whole time.
    /// </returns>
    /// <exception cref="StorageAccessException">The log cannot be written. No log exists then.</exception>
    /// <exception cref="EnvironmentPoisonedException">The header could not be written, or an earlier write has failed.</exception>
    /// <exception cref="OperationCanceledException">The wait was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public bool TryBegin(TimeSpan patience, CancellationToken stop)
    {

        // An existing log needs no writer.
        if (changes.IsOn && TryBegin(NoGeneration, armedAt: 0))
            return true;
        while (true)
        {
            int generation;
            (long Id, long Sequence) submitted;
            if (!engine.WriterLock!.TryEnter(patience, stop))
                return false;
            try
            {
                if (engine.Format.IsVersion1)
                    return false;
                generation = changes.Arm();
                submitted = (writer.Submitted.TransactionId, writer.SubmittedSequence);
            }
            finally
            {
                engine.WriterLock.Release();
            }

            engine.MakeDurable(submitted.Sequence);
            if (TryBegin(generation, submitted.Id))
                return true;
        }
    }

    /// <inheritdoc cref="ChangeTracking.ChangedPageTracker.TryAddPoint"/>
    /// <exception cref="StorageAccessException">The log cannot be written.</exception>
    /// <exception cref="EnvironmentPoisonedException">An earlier write has failed.</exception>
    /// <exception cref="ObjectDisposedException">The environment is closed.</exception>
    public bool TryAddPoint(in BackupPoint point)
    {
        using (flush.Enter())
        {
            ThrowIfEnded();
            try
            {
                return changes.TryAddPoint(point);
            }
            catch (DiskException e)
            {
                throw Unwritten(e);
            }
        }
    }

    /// <summary>Refuses all calls from here on. The caller holds the flusher's lock.</summary>
    public void Close()
    {
        flush.AssertHeld();
        _isClosed = true;
    }

    private bool TryBegin(int generation, long armedAt)
    {
        using (flush.Enter())
        {
            ThrowIfEnded();
            try
            {
                if (!changes.TryBegin(generation, armedAt, checkpoints.Current.JournalSnapshotTransactionId))
                    return false;
            }
            catch (DiskException e)
            {
                throw Unwritten(e);
            }

            if (checkpoints.Current.ChangeLogEntry != changes.Named)
                mover.NameChangeLog();
            return true;
        }
    }

    private void ThrowIfEnded()
    {
        if (_isClosed)
            throw EndedErrors.Environment(engine.Disk.Path);
        engine.Poison.ThrowIfPoisoned();
    }

    private StorageAccessException Unwritten(DiskException failure) =>
        new($"The change log of the environment in '{engine.Disk.Path}' cannot be written: {failure.Message}", failure);
}
