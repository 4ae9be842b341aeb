using System.Diagnostics;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <content>Cutting off the free end of the file.</content>
internal sealed partial class SpaceReclaimer
{
    /// <summary>The maximum number of sections that one transaction removes from the page count.</summary>
    private const int MaxSectionsLowered = 16;

    /// <summary>The number of bytes whose addresses are given up at first while the writer is held.</summary>
    private const long LeastBytesGivenUp = 8L << 20;

    /// <summary>Less time than this for one part makes the next one twice as large.</summary>
    private static readonly TimeSpan TimeOfPart = TimeSpan.FromMilliseconds(1);

    // The last transaction that may have lowered the page count.
    private long _loweredAt;

    // The number of bytes whose addresses were given up, and that the file still contains: a call that ends early leaves them to the next one.
    private long _bytesToCut;

    // The number of bytes whose addresses are given up next.
    private long _bytesGivenUp;

    /// <summary>
    /// Removes free pages at the end from the page count, in a separate transaction. Returns false when there are too few. One transaction may be
    /// unable to remove all of them.
    /// </summary>
    private bool LowerPageCount(TimeSpan patience)
    {
        TakeWriter(patience);
        var body = BeginHeld();
        var isLower = false;
        try
        {
            isLower = TryLowerPageCount(body);
        }
        finally
        {
            if (!isLower)
                body.Rollback();
            NoteHold();
        }

        if (!isLower)
            return false;
        var progress = default(CommitProgress);
        _loweredAt = body.WritePages.Id;
        body.Commit(notifiesObservers: false, ref progress);
        return true;
    }

    private bool TryLowerPageCount(WriteTransactionBody body)
    {
        var writePages = body.WritePages;
        var before = writePages.State.PageCount;
        var least = Math.Max(1, before - MaxSectionsLowered * _engine.Layout.PagesPerSection);
        var kept = before;
        while (true)
        {
            // Page by page: a page may be free, and yet have a version that a flush is still to write, or belong to a staged value.
            var start = _engine.Layout.GroupOf(kept - 1) * _engine.Layout.PagesPerGroup;
            while (kept > Math.Max(start, least) && writePages.Space.IsUntouched(kept - 1))
                kept--;
            if (kept > start || PlantedFault.KeepGroup)
                break;
            ForgetLastGroup(writePages, kept);
        }

        if (before - kept < writePages.Holes.MinPages)
            return false;
        writePages.State.PageCount = kept;
        writePages.Space.Forget();
        return true;
    }

    // All pages of the last group are free. Its map must not be left behind: it would be created a second time when the file grows again.
    private static void ForgetLastGroup(CopyOnWritePages writePages, long kept)
    {
        var (map, directory) = writePages.Space.Map.ForgetLastGroup();
        writePages.Free(new PageNumber(map));
        if (directory >= 0)
            writePages.Free(new PageNumber(directory));
        writePages.State.PageCount = kept;
    }

    private long Truncate(TimeSpan patience, bool isLower, out bool isPending)
    {
        isPending = false;
        try
        {
            bool isMoreLeft;
            _bytesToCut += _engine.DataFile.GiveUpWritten();
            _bytesGivenUp = LeastBytesGivenUp;
            do
            {
                isMoreLeft = TryGiveUpTail(patience, isLower, out var part, out isPending);
                _bytesToCut += part;
            }
            while (isMoreLeft);
            if (_bytesToCut == 0)
                return 0;

            // Without the writer: cutting takes time for each page in the page cache, and the sync may wait for the writes of a flush.
            while (_engine.DataFile.TryCut())
            {
            }

            _engine.DataFile.Sync();
            var bytes = _bytesToCut;
            _bytesToCut = 0;
            _engine.Counters.TruncatedBytes += bytes;
            return bytes;
        }
        catch (DiskException e)
        {
            // The file keeps its length, and its free space.
            ReportOnce(e);
            _bytesToCut = 0;
            return 0;
        }
    }

    // Gives up the addresses of a part of the tail, small enough that the writer is not held for long. Returns true if there is more.
    private bool TryGiveUpTail(TimeSpan patience, bool isLower, out long bytes, out bool isPending)
    {
        (bytes, isPending) = (0, false);
        TakeWriter(patience);
        try
        {
            // No state since the lowering has more pages than the submitted one, and none before it is read or flushed any more.
            var pageCount = _writer.Submitted.PageCount;
            var before = _engine.DataFile.CapacityPages;
            if (before - pageCount < MinCut(pageCount, isLower))
                return false;
            var isInDataFile = PlantedFault.TruncateUnflushed || PlantedFault.CutBeforeFlush || _flusher.CheckpointId >= _loweredAt;
            isPending = !isInDataFile || _engine.DataFile.HasRetiredMaps;
            if (isPending)
                return false;
            var kept = Math.Max(pageCount, before - _bytesGivenUp / _engine.PageSize);
            var began = Stopwatch.GetTimestamp();
            _engine.DataFile.Truncate(kept);
            _bytesGivenUp = Stopwatch.GetElapsedTime(began) < TimeOfPart ? 2 * _bytesGivenUp : LeastBytesGivenUp;
            _writer.WritePages.Holes.NoteTruncated(kept);
            bytes = (before - kept) * _engine.PageSize;
            return kept > pageCount;
        }
        finally
        {
            _writer.Release();
            NoteHold();
        }
    }

    // A growing file keeps the space allocated ahead of need.
    private long MinCut(long pageCount, bool isLower)
    {
        var ahead = GrowthPolicy.NextStep(pageCount, _engine.PageSize, _engine.Options.MaxGrowthBytes);
        return isLower ? _writer.WritePages.Holes.MinPages : Math.Max(_engine.Layout.PagesPerSection, 2 * ahead);
    }
}
