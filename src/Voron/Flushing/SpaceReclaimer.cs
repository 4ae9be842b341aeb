using Voron.IO;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Gives free space back to the file system: sections at the end of the data file are cut off, others punched.</summary>
/// <remarks>
/// Only sections that are wholly free and untouched: free in the durable checkpoint and in the newest state, with no version,
/// so that no snapshot reads them. They are withheld from allocation from the check until the call has returned. The file is
/// cut only after a checkpoint with the smaller page count is durable, which also means that nobody reads beyond it.
/// <para>
/// The writer is waited for under no lock, and flushes go on meanwhile: a flush writes pages that have versions, and there are none
/// in what is given back. One thread at a time gives space back; a second one has nothing to do. A section is offered again by the
/// next holder of the writer, should it be taken when the call has returned.
/// </para>
/// </remarks>
internal sealed class SpaceReclaimer
{
    private readonly EngineContext _context;
    private readonly WriterGate _gate;
    private readonly WriterHome _writer;
    private readonly Flusher _flusher;

    // For the holder of the writer.
    private readonly HashSet<long> _punched = [];
    private int _isRunning;

    public SpaceReclaimer(EngineContext context, WriterGate gate, WriterHome writer, Flusher flusher)
    {
        _context = context;
        _gate = gate;
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
            LowerPageCount(patience);
            _flusher.Flush();
            return Truncate(patience) + Punch(patience);
        }
        finally
        {
            Volatile.Write(ref _isRunning, 0);
        }
    }

    private void TakeWriter(TimeSpan patience)
    {
        if (!_gate.TryEnter(patience, _context.Closing.Token))
            throw new TimeoutException(_writer.DescribeWait(patience));
    }

    /// <summary>Takes free sections at the end out of the page count, in a transaction of its own.</summary>
    private void LowerPageCount(TimeSpan patience)
    {
        TakeWriter(patience);
        var core = BeginHeld();
        var isLower = false;
        try
        {
            isLower = TryLowerPageCount(core);
        }
        finally
        {
            if (!isLower)
                core.Rollback();
        }

        if (!isLower)
            return;
        var journal = core.Journal;
        journal.WaitUntilDurable(core.Submit(null));
    }

    private bool TryLowerPageCount(WriteCore core)
    {
        var session = core.Session;
        var sections = session.Space.Map.SectionCount;
        var kept = sections;

        // The last group keeps a section: its map page may be anywhere, and must not be made twice.
        var least = _context.Layout.GroupOf(session.State.PageCount - 1) * _context.Layout.SectionsPerGroup + 1;
        while (kept > least && session.Space.IsUntouched(kept - 1))
            kept--;
        if (kept == sections)
            return false;
        session.State.PageCount = kept * _context.Layout.PagesPerSection;
        session.Space.Forget();
        return true;
    }

    private long Truncate(TimeSpan patience)
    {
        TakeWriter(patience);
        try
        {
            // Nothing is unflushed then, and so no flush is under way.
            var pageCount = _writer.Submitted.PageCount;
            var before = _context.DataFile.CapacityPages;
            var isHome = _flusher.CheckpointId == _writer.Submitted.TransactionId;
            isHome |= PlantedFault.TruncateUnflushed;
            if (!isHome || before - pageCount < _context.Layout.PagesPerSection || _context.DataFile.HasRetiredMaps)
                return 0;
            _context.DataFile.Truncate(pageCount);
            var bytes = (before - pageCount) * _context.PageSize;
            _context.Counters.TruncatedBytes += bytes;
            return bytes;
        }
        catch (DiskException)
        {
            // The file keeps its length, and its free space.
            return 0;
        }
        finally
        {
            _gate.Release();
        }
    }

    private long Punch(TimeSpan patience)
    {
        var sections = Withhold(patience, out var pageCount);
        var punched = new List<long>(sections.Count);
        var bytes = 0L;
        try
        {
            foreach (var section in sections)
            {
                if (_context.Closing.IsCancellationRequested || !TryPunch(section, pageCount, out var given))
                    continue;
                punched.Add(section);
                bytes += given;
            }
        }
        finally
        {
            _writer.RunWhenFree(() => Offer(sections, punched));
        }

        _context.Counters.PunchedBytes += bytes;
        return bytes;
    }

    private void Offer(List<long> sections, List<long> punched)
    {
        foreach (var section in punched)
        {
            _punched.Add(section);
            _writer.Session.NotePunched(section);
        }

        foreach (var section in sections)
            _writer.Session.Space.Offer(section);
    }

    private List<long> Withhold(TimeSpan patience, out long pageCount)
    {
        var sections = new List<long>();
        TakeWriter(patience);
        var core = BeginHeld();
        try
        {
            var space = core.Session.Space;
            pageCount = core.Session.State.PageCount;
            for (var section = 0L; section < space.Map.SectionCount; section++)
            {
                if (!space.IsUntouched(section))
                {
                    _punched.Remove(section);
                }
                else if (!_punched.Contains(section))
                {
                    space.Withhold(section);
                    sections.Add(section);
                }
            }
        }
        finally
        {
            core.Rollback();
        }

        return sections;
    }

    // Not behind the page count: the file grows into what is there, which has its blocks already.
    private bool TryPunch(long section, long pageCount, out long bytes)
    {
        var from = section * Format.SectionMapLayout.SectionBytes;
        bytes = Math.Min(Format.SectionMapLayout.SectionBytes, pageCount * _context.PageSize - from);
        try
        {
            return _context.DataFile.File.TryPunchHole(from, bytes);
        }
        catch (DiskException)
        {
            return false;
        }
    }

    private WriteCore BeginHeld()
    {
        try
        {
            _context.Poison.ThrowIfPoisoned();
            return _writer.Begin();
        }
        catch
        {
            _gate.Release();
            throw;
        }
    }
}
