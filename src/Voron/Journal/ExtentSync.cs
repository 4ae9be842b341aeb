using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>Makes durable what the transactions of a batch have written past the journal, while the leader writes the batch.</summary>
/// <remarks>
/// <code>
///   idle ── Begin ──▶ offered ── a thread of the pool, or End, takes it ──▶ running ──▶ over ── End ──▶ idle
/// </code>
/// The leader takes the offer itself if no thread of the pool has taken it by the end of the leader's write. A pool without a free thread
/// therefore costs the overlap and nothing else. A work item that comes too late finds no offer, or takes that of a later batch. Nothing is
/// under way while no thread leads.
/// </remarks>
/// <param name="listener">Makes the bytes durable.</param>
/// <param name="overlaps">False to use the leader's thread alone.</param>
internal sealed class ExtentSync(IJournalListener listener, bool overlaps) : IThreadPoolWorkItem
{
    // Protects `_isOver`. No other lock is taken while it is held.
    private readonly object _gate = new();
    private bool _isOver;
    private Exception? _failure;

    // 1 from `Begin` until a thread takes the offer.
    private int _offered;

    /// <summary>Begins a sync, which includes everything that was written before this call.</summary>
    public void Begin()
    {
        Debug.Assert(Volatile.Read(ref _offered) == 0, "A sync must have ended before the next one begins.");
        _isOver = false;
        _failure = null;
        Volatile.Write(ref _offered, 1);
        if (!overlaps)
            return;
        try
        {
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
        catch (OutOfMemoryException)
        {
            // The leader takes the offer.
        }
    }

    /// <summary>Waits until everything is durable, even if the thread is interrupted. Makes it durable here if no other thread does.</summary>
    /// <returns>The failure of the sync, or null.</returns>
    public Exception? End()
    {
        Execute();
        var isInterrupted = false;
        using (Uninterrupted.Hold(_gate))
        {
            while (!_isOver)
                Wait(ref isInterrupted);
        }

        Uninterrupted.PassOn(isInterrupted);
        return _failure;
    }

    /// <summary>Makes everything durable, unless another thread does or has done so.</summary>
    public void Execute()
    {
        if (Interlocked.Exchange(ref _offered, 0) == 0)
            return;
        try
        {
            listener.SyncExtents();
        }
        catch (Exception e)
        {
            // For the leader, not for this thread, which may be any thread.
            _failure = e;
        }

        using (Uninterrupted.Hold(_gate))
        {
            _isOver = true;
            Monitor.Pulse(_gate);
        }
    }

    private void Wait(ref bool isInterrupted)
    {
        try
        {
            Monitor.Wait(_gate);
        }
        catch (ThreadInterruptedException)
        {
            isInterrupted = true;
        }
    }
}
