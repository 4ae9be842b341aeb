using Voron.Journal;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Frees space for the holder of the writer, whose open transaction has run out of it.</summary>
/// <param name="punch">Returns blocks of free pages to the file system.</param>
internal sealed class RoomMaker(ReadingEngine engine, JournalWriter journal, Flusher flusher, Func<long, long> punch)
{
    // Used by the holder of the writer, concurrently with the flusher's thread.
    private readonly RetryPause _roomRetry = new(TimeSpan.FromMilliseconds(100), TimeSpan.FromSeconds(5));
    private long _availableAtFailure;

    /// <inheritdoc cref="IFlushServices.TryFlush"/>
    public bool TryFlush()
    {
        // The zeros have only been written to save time.
        var hasCut = !PlantedFault.FailWithoutFlush && engine.DataFile.CutWritten() > 0;
        if (PlantedFault.FailWithoutFlush || !MayTryAgain)
            return hasCut;
        try
        {
            // A flush skips transactions that are submitted but not yet published.
            journal.Drain();
            var hasFlushed = flusher.FlushForWriter();
            _roomRetry.Clear();
            return hasFlushed || hasCut;
        }
        catch (EnvironmentPoisonedException)
        {
            // The exception may describe the record that was waited for. The caller's transaction has not been submitted.
            throw engine.Poison.Exception(CommitOutcome.NotCommitted);
        }
        catch (StorageFullException e)
        {
            // No space for the flush itself, which is paused. The caller fails for lack of space.
            _availableAtFailure = engine.Disk.AvailableBytes;
            if (_roomRetry.Failed())
                FlushLog.NoRoom(engine.Logger, engine.Disk.Path, e.Message);
            return hasCut;
        }
    }

    /// <inheritdoc cref="IFlushServices.TryPunch"/>
    public bool TryPunch()
    {
        if (PlantedFault.FailWithoutFlush || punch(2 * engine.Options.MaxJournalFileBytes) == 0)
            return false;

        // A paused flush may have been waiting for this space.
        _roomRetry.Clear();
        TryFlush();
        return true;
    }

    // A flush that found no space finds none for the next commit either, and may do much work before it fails.
    private bool MayTryAgain => _roomRetry.IsOver || engine.Disk.AvailableBytes > _availableAtFailure;
}
