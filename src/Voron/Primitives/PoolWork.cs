using Voron.Testing;

namespace Voron.Primitives;

/// <summary>Passes work to the thread pool.</summary>
/// <remarks>
/// An interruption of the calling thread takes effect afterwards. If it comes meanwhile, the work may be queued twice, so it must find nothing to do
/// the second time.
/// </remarks>
internal static class PoolWork
{
    /// <summary>Queues work to the pool, whose threads no schedule controls.</summary>
    /// <returns>False if the pool has no memory or no thread for it.</returns>
    public static bool TryQueue(IThreadPoolWorkItem work) =>
        TryQueue(work, static work => ThreadPool.UnsafeQueueUserWorkItem(work, preferLocal: false));

    /// <summary>Queues work, under a test schedule to a thread of its own.</summary>
    /// <param name="work">The work.</param>
    /// <param name="runsHere">True to run it on the calling thread instead, which only a planted fault asks for.</param>
    /// <inheritdoc cref="TryQueue(IThreadPoolWorkItem)"/>
    public static bool TryQueueToSchedule(IThreadPoolWorkItem work, bool runsHere = false) =>
        TryQueue(work, runsHere ? static work => work.Execute() : static work => SchedulePoint.Queue(work));

    private static bool TryQueue(IThreadPoolWorkItem work, Action<IThreadPoolWorkItem> queue)
    {
        var isInterrupted = false;
        try
        {
            while (true)
            {
                try
                {
                    queue(work);
                    return true;
                }
                catch (ThreadInterruptedException)
                {
                    isInterrupted = true;
                }
            }
        }
        catch (Exception e) when (e is OutOfMemoryException or ThreadStartException)
        {
            return false;
        }
        finally
        {
            Uninterrupted.PassOn(isInterrupted);
        }
    }
}
