using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Paging;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Gives free space back to the file system: the end of the data file is cut off, ranges of 64 KiB and more are punched.</summary>
/// <remarks>
/// Only pages that are free and untouched: free in the durable checkpoint and in the newest state, with no version, so that no
/// snapshot reads them. Their sections are withheld from allocation from the check until the call has returned, a few at a time, so that
/// there is always something else to allocate from. <see cref="PossibleHoles"/> knows of a hole before it is made. The file is
/// cut only after a checkpoint with the smaller page count is durable, which also means that no snapshot reads beyond it.
/// <para>
/// The writer is waited for under no lock, and flushes go on meanwhile: a flush writes pages that have versions, and there are none
/// in what is given back. One thread at a time gives space back; a second one has nothing to do. A section is offered again by the
/// next holder of the writer, should it be taken when the call has returned.
/// </para>
/// </remarks>
internal sealed class SpaceReclaimer
{
    /// <summary>Sections that are withheld at a time at most, and no more than a share of all.</summary>
    private const int MaxWithheld = 16;

    private const int ShareWithheld = 8;

    /// <summary>Sections that are looked at while the writer is held.</summary>
    private const int MaxSectionsExamined = 256;

    private readonly Engine _context;
    private readonly Writer _writer;
    private readonly Flusher _flusher;

    private int _isRunning;
    private int _isReported;

    // Where the search of the holder of the writer goes on, how many sections it has looked at in vain, and since which detaching of pages.
    private long _nextSection;
    private long _searchedInVain;
    private long _searchedAtDetach = -1;

    public SpaceReclaimer(Engine context, Writer writer, Flusher flusher)
    {
        _context = context;
        _writer = writer;
        _flusher = flusher;
    }

    /// <summary>Gives back what can be, and returns how many bytes that was; 0 when another thread is doing so.</summary>
    /// <param name="patience">How long to wait for the writer, each time that it is needed.</param>
    /// <exception cref="TimeoutException">The writer was not free in time. Nothing was done that the next call does not go on with.</exception>
    /// <exception cref="OperationCanceledException">The environment is being closed.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or before.</exception>
    public long Run(TimeSpan patience)
    {
        if (Interlocked.Exchange(ref _isRunning, 1) != 0)
            return 0;
        try
        {
            var isLower = LowerPageCount(patience);
            _flusher.Flush();
            return Truncate(patience, isLower) + Punch(patience);
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }

    /// <summary>
    /// Punches free pages for the holder of the writer, in whose open transaction there is no room for something else than pages: for a
    /// journal file. The pages are free in the open transaction too, and were free before it.
    /// </summary>
    /// <remarks>
    /// The writer is held meanwhile, so the search ends after <see cref="StorageOptions.LongestPunch"/>, and the next one goes on where it
    /// ended. When all sections have been looked at in vain, none is looked at again before a flush has made other pages free.
    /// </remarks>
    /// <param name="bytes">How much is enough.</param>
    /// <returns>How much was given back.</returns>
    public long PunchForWriter(long bytes)
    {
        var writePages = _writer.WritePages;
        var sections = writePages.Space.Map.SectionCount;
        var detach = _context.Versions.DetachIsIncomplete ? -1 : _context.Versions.LastDetach;
        if (detach != _searchedAtDetach || detach < 0)
            _searchedInVain = 0;
        _searchedAtDetach = detach;
        var ranges = new List<PageRange>();
        var start = Stopwatch.GetTimestamp();
        var punched = 0L;
        var isOver = false;
        while (punched < bytes && _searchedInVain < sections && !isOver)
        {
            _nextSection = _nextSection > 0 ? Math.Min(_nextSection, sections) - 1 : sections - 1;
            ranges.Clear();
            writePages.Space.FindUntouched(_nextSection, writePages.Holes, ranges);
            _searchedInVain = ranges.Count == 0 ? _searchedInVain + 1 : 0;
            var given = PunchNoted(writePages.Holes, ranges);
            punched += given;

            // Where the file system cannot, it cannot elsewhere.
            isOver = (ranges.Count > 0 && given == 0) || Stopwatch.GetElapsedTime(start) >= _context.Options.LongestPunch;
        }

        _context.Counters.PunchedBytes += punched;
        return punched;
    }

    // A hole is noted before it is made: one that nothing knows of would be taken for room.
    private long PunchNoted(PossibleHoles holes, List<PageRange> ranges)
    {
        var punched = 0L;
        foreach (var range in ranges)
        {
            holes.NotePossible(range.First, range.Pages);
            if (!TryPunch(range))
                break;
            holes.NotePunched(range.First, range.Pages);
            punched += range.NewPages * _context.PageSize;
        }

        return punched;
    }

    private void TakeWriter(TimeSpan patience)
    {
        if (!_writer.TryEnter(patience, _context.Closing.Token))
            throw new TimeoutException(_writer.DescribeWait(patience));
    }

    /// <summary>Takes free pages at the end out of the page count, in a transaction of its own. False when there are not enough.</summary>
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
        }

        if (!isLower)
            return false;
        var journal = body.Journal;
        journal.WaitUntilDurable(body.Submit(null));
        return true;
    }

    private bool TryLowerPageCount(WriteTransactionBody body)
    {
        var writePages = body.WritePages;
        var kept = writePages.State.PageCount;

        // The last group keeps a page: its map page may be anywhere, and must not be made twice.
        var least = _context.Layout.GroupOf(kept - 1) * _context.Layout.PagesPerGroup + 1;
        while (kept > least && writePages.Space.IsUntouched(kept - 1))
            kept--;
        if (writePages.State.PageCount - kept < writePages.Holes.MinPages)
            return false;
        writePages.State.PageCount = kept;
        writePages.Space.Forget();
        return true;
    }

    private long Truncate(TimeSpan patience, bool isLower)
    {
        TakeWriter(patience);
        try
        {
            // Nothing is unflushed then, and so no flush is under way.
            var pageCount = _writer.Submitted.PageCount;
            var before = _context.DataFile.CapacityPages;
            var isInDataFile = _flusher.CheckpointId == _writer.Submitted.TransactionId;
            isInDataFile |= PlantedFault.TruncateUnflushed;
            if (!isInDataFile || before - pageCount < MinCut(pageCount, isLower) || _context.DataFile.HasRetiredMaps)
                return 0;
            _context.DataFile.Truncate(pageCount);
            _writer.WritePages.Holes.NoteTruncated(pageCount);
            var bytes = (before - pageCount) * _context.PageSize;
            _context.Counters.TruncatedBytes += bytes;
            return bytes;
        }
        catch (DiskException e)
        {
            // The file keeps its length, and its free space.
            ReportOnce(e);
            return 0;
        }
        finally
        {
            _writer.Release();
        }
    }

    // A file that grows keeps what it was given ahead of need.
    private long MinCut(long pageCount, bool isLower)
    {
        var ahead = GrowthPolicy.NextStep(pageCount, _context.PageSize, _context.Options.MaxGrowthBytes);
        return isLower ? _writer.WritePages.Holes.MinPages : Math.Max(_context.Layout.PagesPerSection, 2 * ahead);
    }

    private long Punch(TimeSpan patience)
    {
        var bytes = 0L;
        for (var next = 0L; next >= 0 && !_context.Closing.IsCancellationRequested;)
        {
            var slice = Withhold(ref next, patience);
            var punched = 0;
            try
            {
                while (punched < slice.Ranges.Count && TryPunch(slice.Ranges[punched]))
                    bytes += slice.Ranges[punched++].NewPages * _context.PageSize;
            }
            finally
            {
                _writer.RunWhenFree(() => Offer(slice, punched));
            }

            // Where the file system cannot, it cannot elsewhere.
            if (punched < slice.Ranges.Count)
                break;
        }

        _context.Counters.PunchedBytes += bytes;
        return bytes;
    }

    private void Offer(WithheldSlice slice, int punched)
    {
        foreach (var range in slice.Ranges.Take(punched))
            _writer.WritePages.Holes.NotePunched(range.First, range.Pages);
        foreach (var section in slice.Sections)
            _writer.WritePages.Space.Offer(section);
    }

    // The next sections that have something to give back, from one on; then where to go on, or -1.
    private WithheldSlice Withhold(ref long next, TimeSpan patience)
    {
        var slice = new WithheldSlice([], []);
        TakeWriter(patience);
        var body = BeginHeld();
        try
        {
            var writePages = body.WritePages;
            var sections = writePages.Space.Map.SectionCount;
            var most = PlantedFault.PunchUnderWriter ? sections : Math.Clamp(sections / ShareWithheld, 1, MaxWithheld);
            var end = Math.Min(sections, next + MaxSectionsExamined);
            for (; next < end && slice.Sections.Count < most; next++)
            {
                var before = slice.Ranges.Count;
                writePages.Space.FindUntouched(next, writePages.Holes, slice.Ranges);
                if (slice.Ranges.Count == before)
                    continue;
                writePages.Space.Withhold(next);
                slice.Sections.Add(next);
                foreach (var range in CollectionsMarshal.AsSpan(slice.Ranges)[before..])
                {
                    writePages.Holes.NotePossible(range.First, range.Pages);
                    if (PlantedFault.PunchUnderWriter)
                        TryPunch(range);
                }
            }

            if (next >= sections)
                next = -1;
        }
        catch
        {
            foreach (var section in slice.Sections)
                body.WritePages.Space.Offer(section);
            throw;
        }
        finally
        {
            body.Rollback();
        }

        return slice;
    }

    private bool TryPunch(in PageRange range)
    {
        try
        {
            return !_context.Closing.IsCancellationRequested
                && _context.DataFile.File.TryPunchHole(range.First * _context.PageSize, range.Pages * _context.PageSize);
        }
        catch (DiskException e)
        {
            ReportOnce(e);
            return false;
        }
    }

    // What cannot be given back now costs nothing but its space, and is tried again and again.
    private void ReportOnce(DiskException e)
    {
        if (Interlocked.Exchange(ref _isReported, 1) == 0)
            FlushLog.NothingReclaimed(_context.Logger, e.Message);
    }

    private WriteTransactionBody BeginHeld()
    {
        try
        {
            _context.Poison.ThrowIfPoisoned();
            return _writer.Begin();
        }
        catch
        {
            _writer.Release();
            throw;
        }
    }

    private sealed record WithheldSlice(List<PageRange> Ranges, List<long> Sections);
}
