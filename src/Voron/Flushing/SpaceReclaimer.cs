using Voron.IO;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Gives free space back to the file system: sections at the end of the data file are cut off, others punched.</summary>
/// <remarks>
/// Only sections that are wholly free and untouched: free in the durable checkpoint and in the newest state, with no version,
/// so that no snapshot reads them. They are withheld from allocation from the check until the call has returned. The file is
/// cut only after a checkpoint with the smaller page count is durable, which also means that nobody reads beyond it.
/// </remarks>
internal sealed class SpaceReclaimer
{
    private readonly EngineContext _context;
    private readonly WriterGate _gate;
    private readonly WriterHome _writer;
    private readonly Flusher _flusher;
    private readonly HashSet<long> _punched = [];

    public SpaceReclaimer(EngineContext context, WriterGate gate, WriterHome writer, Flusher flusher)
    {
        _context = context;
        _gate = gate;
        _writer = writer;
        _flusher = flusher;
    }

    /// <summary>Gives back what can be, and returns how many bytes that was.</summary>
    /// <exception cref="EnvironmentPoisonedException">A write failed, now or before.</exception>
    public long Run()
    {
        SchedulePoint.UntilFree(_flusher.Exclusion);
        lock (_flusher.Exclusion)
        {
            _flusher.ThrowIfClosed();
            LowerPageCount();
            _flusher.Flush();
            return Truncate() + Punch();
        }
    }

    /// <summary>Takes free sections at the end out of the page count, in a transaction of its own.</summary>
    private void LowerPageCount()
    {
        _gate.Enter(CancellationToken.None);
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

    private long Truncate()
    {
        _gate.Enter(CancellationToken.None);
        try
        {
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

    private long Punch()
    {
        var sections = Withhold(out var pageCount);
        var bytes = 0L;
        foreach (var section in sections)
        {
            if (TryPunch(section, pageCount, out var punched))
            {
                bytes += punched;
                _punched.Add(section);
            }
        }

        _gate.Enter(CancellationToken.None);
        try
        {
            foreach (var section in sections)
            {
                _writer.Session.Space.Offer(section);
                if (_punched.Contains(section))
                    _writer.Session.NotePunched(section);
            }
        }
        finally
        {
            _gate.Release();
        }

        _context.Counters.PunchedBytes += bytes;
        return bytes;
    }

    private List<long> Withhold(out long pageCount)
    {
        var sections = new List<long>();
        _gate.Enter(CancellationToken.None);
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
