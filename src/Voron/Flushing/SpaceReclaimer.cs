using System.Diagnostics;
using System.Runtime.InteropServices;
using Voron.FreeSpace;
using Voron.IO;
using Voron.Testing;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Returns free space to the file system: truncates the end of the data file, and punches ranges of 64 KiB and more.</summary>
/// <remarks>
/// Returns only pages that are free and untouched: free in the durable checkpoint and in the newest state, with no version, so that no
/// snapshot reads them. Their sections are withheld from allocation from the check until the call has returned, a few at a time, so that
/// there are always other sections to allocate from. <see cref="PossibleHoles"/> records a hole before it is made. The file is truncated
/// only after a checkpoint with the smaller page count is durable, which also means that no snapshot reads beyond it.
/// <para>
/// The reclaimer holds no lock while it waits for the writer, and flushes continue meanwhile: a flush writes pages that have versions, and the
/// space that has been returned has none. One thread at a time returns space; a second one has nothing to do. If the writer is taken when
/// the call has returned, its next holder offers the section again.
/// </para>
/// </remarks>
internal sealed partial class SpaceReclaimer
{
    /// <summary>The maximum number of sections that are withheld at a time; it is also limited to a share of all.</summary>
    private const int MaxWithheld = 16;

    private const int ShareWithheld = 8;

    /// <summary>The maximum number of sections that are examined while the writer is held.</summary>
    private const int MaxSectionsExamined = 32;

    private readonly ReadingEngine _engine;
    private readonly SingleWriter _writer;
    private readonly WriteTransactionPool _transactions;
    private readonly Flusher _flusher;

    private int _isRunning;
    private int _isReported;

    // The time at which the writer was taken.
    private long _takenAt;

    // For the search by the writer's holder: where it resumes, how many sections it has examined in vain, and since which detach of pages and
    // which end of a reservation.
    private long _nextSection;
    private long _searchedInVain;
    private long _searchedAtDetach = -1;
    private long _searchedAtRelease;

    public SpaceReclaimer(ReadingEngine engine, SingleWriter writer, WriteTransactionPool transactions, Flusher flusher)
    {
        _engine = engine;
        _writer = writer;
        _transactions = transactions;
        _flusher = flusher;
        _loweredAt = writer.Submitted.TransactionId;
    }

    /// <summary>The longest time for which this class has held the writer since the property was last set to zero.</summary>
    public TimeSpan LongestHold { get; set; }

    /// <summary>Returns as much space as possible. The result is the number of bytes; 0 when another thread is doing so.</summary>
    /// <inheritdoc cref="TryCut"/>
    public long Run(TimeSpan patience) => TryRun(() => Cut(patience, cutsAll: false, out _) + Punch(patience), out var bytes) ? bytes : 0;

    /// <summary>Cuts off the free end of the file; returns false when another thread is returning space.</summary>
    /// <param name="patience">How long to wait for the writer each time it is needed.</param>
    /// <param name="cutsAll">True to cut off the space allocated ahead of need, too.</param>
    /// <param name="isPending">True if a free end is left, because a reader may still use it.</param>
    /// <exception cref="TimeoutException">The writer was not free in time. The next call continues everything that was begun.</exception>
    /// <exception cref="OperationCanceledException">The environment is being closed.</exception>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or before.</exception>
    public bool TryCut(TimeSpan patience, bool cutsAll, out bool isPending)
    {
        var isLeft = false;
        var isRun = TryRun(() => Cut(patience, cutsAll, out isLeft), out _);
        isPending = isLeft;
        return isRun;
    }

    /// <summary>Punches free ranges; returns false when another thread is returning space.</summary>
    /// <inheritdoc cref="TryCut"/>
    public bool TryPunch(TimeSpan patience) => TryRun(() => Punch(patience), out _);

    private bool TryRun(Func<long> work, out long bytes)
    {
        bytes = 0;
        if (Interlocked.Exchange(ref _isRunning, 1) != 0)
            return false;
        try
        {
            bytes = work();
            return true;
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }

    private long Cut(TimeSpan patience, bool cutsAll, out bool isPending)
    {
        var isLower = cutsAll;
        while (LowerPageCount(patience))
            isLower = true;
        if (!PlantedFault.CutBeforeFlush)
            _flusher.Flush();
        return Truncate(patience, isLower, out isPending);
    }

    /// <summary>
    /// Punches free pages for the holder of the writer, whose open transaction lacks space for something other than pages: for a journal file. The
    /// pages are free in the open transaction too, and were free before it.
    /// </summary>
    /// <remarks>
    /// The writer is held meanwhile, so the search ends after <see cref="StorageOptions.LongestPunch"/>, and the next one resumes there.
    /// When all sections have been examined in vain, none is examined again before a flush, or the end of a reservation, has made other pages
    /// available.
    /// </remarks>
    /// <param name="bytes">The number of bytes that is enough.</param>
    /// <returns>The number of bytes returned.</returns>
    public long PunchForWriter(long bytes)
    {
        _writer.AssertHeld();
        var writePages = _writer.WritePages;
        var sections = writePages.Space.Map.SectionCount;
        var detach = _engine.Versions.DetachIsIncomplete ? -1 : _engine.Versions.LastDetach;
        var release = writePages.Space.Reserved.ReleaseCount;
        if (detach != _searchedAtDetach || detach < 0 || release != _searchedAtRelease)
            _searchedInVain = 0;
        _searchedAtDetach = detach;
        _searchedAtRelease = release;
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

            // If the file system cannot punch a hole here, it cannot do so elsewhere.
            isOver = (ranges.Count > 0 && given == 0) || Stopwatch.GetElapsedTime(start) >= _engine.Options.LongestPunch;
        }

        Interlocked.Add(ref _engine.Counters.PunchedBytes, punched);
        return punched;
    }

    // A hole is recorded before it is made: an unrecorded hole would be mistaken for pages with blocks.
    private long PunchNoted(PossibleHoles holes, List<PageRange> ranges)
    {
        var punched = 0L;
        foreach (var range in ranges)
        {
            holes.NotePossible(range.First, range.Pages);
            if (!TryPunch(range))
                break;
            holes.NotePunched(range.First, range.Pages);
            punched += range.NewPages * _engine.PageSize;
        }

        return punched;
    }

    private void TakeWriter(TimeSpan patience)
    {
        if (!_writer.TryEnter(patience, _engine.Closing.Token))
            throw new TimeoutException(_writer.DescribeWait(patience));
        _takenAt = Stopwatch.GetTimestamp();
    }

    private void NoteHold()
    {
        var hold = Stopwatch.GetElapsedTime(_takenAt);
        if (hold > LongestHold)
            LongestHold = hold;
    }

    private long Punch(TimeSpan patience)
    {
        var bytes = 0L;
        for (var next = 0L; next >= 0 && !_engine.Closing.IsCancellationRequested;)
        {
            var slice = Withhold(ref next, patience);
            var punched = 0;
            try
            {
                while (punched < slice.Ranges.Count && TryPunch(slice.Ranges[punched]))
                    bytes += slice.Ranges[punched++].NewPages * _engine.PageSize;
            }
            finally
            {
                _writer.RunWhenFree(() => Offer(slice, punched));
            }

            // If the file system cannot punch a hole here, it cannot do so elsewhere.
            if (punched < slice.Ranges.Count)
                break;
        }

        Interlocked.Add(ref _engine.Counters.PunchedBytes, bytes);
        return bytes;
    }

    private void Offer(WithheldSlice slice, int punched)
    {
        foreach (var range in slice.Ranges.Take(punched))
            _writer.WritePages.Holes.NotePunched(range.First, range.Pages);
        foreach (var section in slice.Sections)
            _writer.WritePages.Space.Offer(section);
    }

    // Withholds the next sections that have something to return, from `next` on; then sets `next` to where to continue, or to -1.
    private WithheldSlice Withhold(ref long next, TimeSpan patience)
    {
        var slice = new WithheldSlice([], []);
        TakeWriter(patience);
        var body = BeginHeld();
        try
        {
            var writePages = body.WritePages;
            var space = writePages.Space;
            var sections = space.Map.SectionCount;

            // A compaction fills the sections before the tail: their blocks would have to be allocated again.
            if (space.Withheld.HasTail)
                next = Math.Max(next, Math.Min(space.Withheld.TailStart, sections));
            var most = PlantedFault.PunchUnderWriter ? sections : Math.Clamp(sections / ShareWithheld, 1, MaxWithheld);
            var end = Math.Min(sections, next + MaxSectionsExamined);
            for (; next < end && slice.Sections.Count < most; next++)
            {
                var before = slice.Ranges.Count;
                space.FindUntouched(next, writePages.Holes, slice.Ranges);
                if (slice.Ranges.Count == before)
                    continue;
                slice.Sections.Add(next);
                space.Withhold(next);
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
            NoteHold();
        }

        return slice;
    }

    private bool TryPunch(in PageRange range)
    {
        try
        {
            return !_engine.Closing.IsCancellationRequested
                && _engine.DataFile.File.TryPunchHole(range.First * _engine.PageSize, range.Pages * _engine.PageSize);
        }
        catch (DiskException e)
        {
            ReportOnce(e);
            return false;
        }
    }

    // Space that cannot be returned now costs nothing but itself, and is retried repeatedly.
    private void ReportOnce(DiskException e)
    {
        if (Interlocked.Exchange(ref _isReported, 1) == 0)
            FlushLog.NothingReclaimed(_engine.Logger, _engine.Disk.Path, e.Message);
    }

    private WriteTransactionBody BeginHeld()
    {
        try
        {
            _engine.Poison.ThrowIfPoisoned();
            return _transactions.Begin();
        }
        catch
        {
            _writer.Release();
            throw;
        }
    }

    private sealed record WithheldSlice(List<PageRange> Ranges, List<long> Sections);
}
