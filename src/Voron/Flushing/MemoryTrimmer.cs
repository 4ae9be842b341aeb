using Voron.Primitives;
using Voron.Transactions;

namespace Voron.Flushing;

/// <summary>Gives memory back that was needed once: chunks of scratch, and buffers of large journal records.</summary>
/// <remarks>
/// Runs on the scheduler's thread. The floor follows use: what was in use at most in the last two periods stays, with a
/// chunk to spare. The writer is held to take the free lists out and to put back what is left of them, for a moment each; between
/// the two, while every free frame is looked at, a writer that runs finds none and takes a fresh chunk. The writer is never waited for:
/// when it is taken, its holder puts the lists back before the next transaction begins.
/// </remarks>
internal sealed class MemoryTrimmer
{
    public static readonly TimeSpan Period = TimeSpan.FromSeconds(15);

    private readonly EngineLock _lock = new(LockRank.Trim);
    private readonly Engine _context;
    private readonly Writer _writer;

    // Made ahead: once the free lists are taken out, putting them back must not fail for want of memory.
    private readonly Action _putBack;

    // What is taken out; null when all is back. Both change in the hands of the holder of the writer, but for the end of the run.
    private Scratch.FrameTrim? _trim;
    private bool _hasRun;
    private long _peakBefore = long.MaxValue / 2;
    private long _trimmedAtTick = Environment.TickCount64;

    public MemoryTrimmer(Engine context, Writer writer)
    {
        _context = context;
        _writer = writer;
        _putBack = PutBack;
    }

    /// <summary>True while there is something that a look may give back, now or after a while without use.</summary>
    public bool IsWorthWaiting => HasExcess || _context.Journal!.HasLargeBuffers;

    private bool HasExcess => _context.Frames.ChunkTotalBytes > Spare + _context.Frames.UsedBytes;

    private long Spare => 2L * _context.Frames.ChunkBytes;

    /// <summary>Has a look when a period is over.</summary>
    public void TrimWhenDue()
    {
        if (Environment.TickCount64 - _trimmedAtTick >= Period.TotalMilliseconds)
            Trim();
    }

    /// <summary>Ends a period: gives back what has not been in use for two of them.</summary>
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
                // The system does not take it; it stays, unused.
            }
        }
    }

    private void TrimLocked()
    {
        _trimmedAtTick = Environment.TickCount64;
        _context.Journal!.TrimBuffers();
        if (!_writer.TryEnter(TimeSpan.Zero, CancellationToken.None))
            return;
        long excess;
        try
        {
            _writer.RunErrands();

            // The last one's frames are still out when the call that was to put them back did not get into the writer's errands.
            PutBack();

            // What a reader held back that has ended since, and nobody has written since.
            _writer.VersionReclaimer.Reclaim();
            var frames = _context.Frames;
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

    // By the holder of the writer. A call that comes twice, or while another trim looks at its frames, does nothing.
    private void PutBack()
    {
        if (_trim is not { } trim || !Volatile.Read(ref _hasRun))
            return;
        _trim = null;
        _context.Frames.EndTrim(trim);
    }
}
