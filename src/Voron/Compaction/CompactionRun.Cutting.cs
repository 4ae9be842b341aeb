using System.Diagnostics;
using Voron.Flushing;
using Voron.Testing;

namespace Voron.Compaction;

/// <content>Flushes the moved pages, and cuts off the pages that are free afterwards, as far as readers allow.</content>
internal sealed partial class CompactionRun
{
    // Pages moved before the previous flush must be in the data file now: only pages moved since then may wait for a reader.
    private Task<bool> FlushAsync()
    {
        var id = _settledId;
        (_settledId, _movedSinceFlush) = (_transactions.LastTransactionId, 0);
        return WaitForReadersAsync(() => TryFlushAsync(id));
    }

    private async Task<bool> TryFlushAsync(long id)
    {
        _awaitedId = id;
        _flusher.Flush();
        if (_flusher.CheckpointId < id)
            return false;

        // Remaining versions prevent pages from being cut off. Another flush may be detaching them, but if it did not get the writer in time, this
        // run must.
        if (!_engine.Versions.DetachIsIncomplete)
        {
            _polls = 0;
            return true;
        }

        if (++_polls < PollsBeforeDetaching && _options.ReaderPatience >= PollsBeforeDetaching * ReaderPause)
            return false;
        _polls = 0;
        await _transactions.UseAsync(_ => _flusher.FlushForWriter(), _stop).ConfigureAwait(false);
        return true;
    }

    // A page can be cut off once its release has been flushed: until then, it has a version that a flush must still write.
    private async Task<bool> TryCutAsync(bool cutsAll)
    {
        if (!await TryFlushAsync(Math.Max(_plannedId, _transactions.LastTransactionId)).ConfigureAwait(false))
            return false;
        var isPending = false;
        await ReclaimAsync(() => _reclaimer.TryCut(WriterPatience, cutsAll, out isPending)).ConfigureAwait(false);
        return !isPending;
    }

    // Cuts off all pages that can be cut off now, and returns the remaining free space.
    private async Task<bool> FinishAsync()
    {
        var isCut = false;
        if (_blockedBy != null)
            isCut = await TryCutAsync(cutsAll: true).ConfigureAwait(false);
        else
            isCut = await WaitForReadersAsync(() => TryCutAsync(cutsAll: true)).ConfigureAwait(false);
        if (isCut)
            _blockedBy = null;
        await ReclaimAsync(() => _reclaimer.TryPunch(WriterPatience)).ConfigureAwait(false);
        return isCut;
    }

    private async Task TryFinishAsync()
    {
        try
        {
            await FinishAsync().ConfigureAwait(false);
        }
        catch (VoronException)
        {
            // The first failure is the one to report.
        }
    }

    // Another thread may be returning space, or a caller may keep its write transaction open: the run waits for both, as any caller would.
    private async Task ReclaimAsync(Func<bool> work)
    {
        while (true)
        {
            _stop.ThrowIfCancellationRequested();
            try
            {
                if (work())
                    return;
                await SchedulePoint.Pause(ReaderPause, _stop).ConfigureAwait(false);
            }
            catch (TimeoutException)
            {
            }
        }
    }

    // Returns false, and records the reader, if one blocks the run for too long.
    private async Task<bool> WaitForReadersAsync(Func<Task<bool>> tryOnce)
    {
        var began = Stopwatch.GetTimestamp();
        while (!await tryOnce().ConfigureAwait(false))
        {
            if (Stopwatch.GetElapsedTime(began) >= _options.ReaderPatience)
            {
                // A newer reader, too, may use an address at which the file was mapped before.
                _blockedBy = SlowReaderWatch.DescribeOldest(_engine, _engine.DataFile.HasRetiredMaps ? long.MaxValue : _awaitedId);
                return false;
            }

            await SchedulePoint.Pause(ReaderPause, _stop).ConfigureAwait(false);
        }

        return true;
    }
}
