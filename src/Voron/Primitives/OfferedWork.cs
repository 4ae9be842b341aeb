using System.Diagnostics;

namespace Voron.Primitives;

/// <summary>
/// Work that its owner offers to the thread pool, and does itself if it needs the result before a pool thread has begun. A pool without a free thread
/// therefore costs only the overlap.
/// </summary>
/// <remarks>
/// <code>
///   idle ── Offer ──▶ offered ── a thread of the pool, or End, takes it ──▶ running ──▶ over ── End ──▶ idle
///                        └────────────────────── Cancel ──────────────────────────────▶ over
/// </code>
/// One thread at a time owns the work, and ends it before offering it again. A work item that the pool runs too late finds no offer, or
/// takes a later one.
/// </remarks>
internal abstract class OfferedWork : IThreadPoolWorkItem
{
    // Protects `_isOver`. No other lock is taken while it is held.
    private readonly object _gate = new();
    private bool _isOver;
    private Exception? _failure;

    // 1 from `Offer` until a thread takes the work or cancels it.
    private int _offered;

    /// <summary>Whether the work is offered, and no thread has begun it.</summary>
    protected bool IsOffered => Volatile.Read(ref _offered) != 0;

    /// <summary>Offers the work. The thread that does it sees all earlier writes of the owner. Throws nothing.</summary>
    /// <param name="toPool">False to leave the work to <see cref="End"/>.</param>
    public void Offer(bool toPool)
    {
        Debug.Assert(!IsOffered, "Offered work must have ended before it is offered again.");
        _isOver = false;
        _failure = null;
        Volatile.Write(ref _offered, 1);

        // If the pool does not take it, the owner does the work when it ends it.
        if (toPool)
            PoolWork.TryQueue(this);
    }

    /// <summary>Does the work, unless another thread does or has done so.</summary>
    public void Execute()
    {
        if (Interlocked.Exchange(ref _offered, 0) == 0)
            return;
        try
        {
            Work();
        }
        catch (Exception e)
        {
            // The failure is for the owner, not for this thread, which may be any thread.
            _failure = e;
        }

        SetOver();
    }

    /// <summary>Withdraws the offer if no thread has begun the work. <see cref="End"/> must still be called.</summary>
    public void Cancel()
    {
        if (Interlocked.Exchange(ref _offered, 0) != 0)
            SetOver();
    }

    /// <summary>Waits until the work is over, even if the thread is interrupted. Does it here if no other thread has begun.</summary>
    /// <returns>The failure of the work, or null.</returns>
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

    /// <summary>Does the work. An exception is the result of <see cref="End"/>.</summary>
    protected abstract void Work();

    private void SetOver()
    {
        using (Uninterrupted.Hold(_gate))
        {
            Debug.Assert(!_isOver, "Offered work must be done, or cancelled, only once.");
            _isOver = true;
            Monitor.Pulse(_gate);
        }
    }

    // The monitor's own wait, not that of a schedule as in Uninterrupted.Wait, because no schedule controls the pool's threads.
    private void Wait(ref bool isInterrupted)
    {
        Debug.Assert(Monitor.IsEntered(_gate), "The lock of the work must be held.");
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
