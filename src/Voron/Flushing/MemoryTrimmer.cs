using Voron.Journal;
using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>
/// Returns memory that is no longer needed: chunks of scratch, buffers of large journal records and values, and objects attached to states that no
/// transaction reads any more.
/// </summary>
/// <remarks>
/// Runs on the scheduler's thread. The floor follows use: the peak of the last two periods stays, with a chunk to spare. The writer is held for a
/// moment to take the free lists out, and again to put the remaining frames back. Between the two, while every free frame is examined, a running
/// writer finds no free frames and takes a new chunk. The trimmer never waits for the writer: when the writer is taken, its holder puts the lists
/// back before the next transaction begins.
/// </remarks>
internal sealed class MemoryTrimmer
{
    public static readonly TimeSpan Period = TimeSpan.FromSeconds(15);

    private readonly EngineLock _lock = new(LockRank.Trim);
    private readonly ReadingEngine _engine;
    private readonly JournalWriter _journal;
    private readonly SingleWriter _writer;

    // Created in advance: once the free lists are taken out, putting them back must not fail for lack of memory.
    private readonly Action _putBack;

    // The frames that are taken out; null when all are back. Only the holder of the writer changes these two fields, except at the end of
    // the run.
    private Scratch.FrameTrim? _trim;
    private bool _hasRun;
    private long _peakBefore = long.MaxValue / 2;
    private long _trimmedAtTick = Environment.TickCount64;

    public MemoryTrimmer(ReadingEngine engine, JournalWriter journal, SingleWriter writer)
    {
        _engine = engine;
        _journal = journal;
        _writer = writer;
        _putBack = PutBack;
    }

    /// <summary>True while a trim may return something, now or after a while without use.</summary>
    public bool IsWorthWaiting => HasExcess || _engine.Ring.HasOlderAttached || _journal.HasLargeBuffers
        || _writer.WritePages.LargeValueBuffer is { HasSpare: true };

    private bool HasExcess => _engine.Frames.ChunkTotalBytes > Spare + _engine.Frames.UsedBytes;

    private long Spare => 2L * _engine.Frames.ChunkBytes;

    /// <summary>Trims when a period is over.</summary>
    public void TrimWhenDue()
    {
        if (Environment.TickCount64 - _trimmedAtTick >= Period.TotalMilliseconds)
            Trim();
    }

    /// <summary>Ends a period: returns memory that has not been in use for two periods.</summary>
    public void Trim()
    {
        using (_lock.Enter())
        {
            try
            {
                TrimLocked();
            }
            catch (InsufficientMemoryException)
            {
                // The system does not accept the memory; it stays, unused.
            }
        }
    }

    private void TrimLocked()
    {
        _trimmedAtTick = Environment.TickCount64;
        _engine.Ring.ForgetOlderAttached();
        _journal.TrimBuffers();
        if (!_writer.TryEnter(TimeSpan.Zero, CancellationToken.None))
            return;
        long excess;
        try
        {
            _writer.RunDeferred();

            // The frames of the last trim are still out if the call that puts them back did not enter the writer's queue.
            PutBack();

            // Reclaims versions held back by a reader that has ended since, without any write since then.
            _writer.VersionReclaimer.Reclaim();
            _writer.WritePages.LargeValueBuffer?.Trim();
            var frames = _engine.Frames;
            var peak = frames.TakePeak();
            var floor = Math.Max(peak, _peakBefore);
            _peakBefore = peak;
            excess = frames.ChunkTotalBytes - frames.ChunkBytes - floor;
            if (excess <= frames.ChunkBytes)
                return;
            _trim = frames.BeginTrim();
            _hasRun = false;
        }
        finally
        {
            _writer.Release();
        }

        try
        {
            _trim.Run(excess);
        }
        finally
        {
            Volatile.Write(ref _hasRun, true);
            _writer.RunWhenFree(_putBack);
        }
    }

    // Called by the holder of the writer. A second call, or one while another trim examines its frames, does nothing.
    private void PutBack()
    {
        _writer.AssertHeld();
        if (_trim is not { } trim || !Volatile.Read(ref _hasRun))
            return;
        _trim = null;
        _engine.Frames.EndTrim(trim);
    }
}
