using Voron.IO;
using Voron.Primitives;

namespace Voron.Paging;

// Syncs and write-backs: each fails once and for all.
internal sealed partial class DataFile
{
    // Held for a sync or a write-back, so that no other thread syncs between a failure and the poisoning.
    private readonly EngineLock _sync = new(LockRank.DataSync);

    /// <summary>
    /// Makes all earlier writes durable. A failure poisons the environment: the kernel reports a failed write-back only once, so the
    /// caller that sees it must stop all writes before another sync can succeed falsely.
    /// </summary>
    /// <exception cref="EnvironmentPoisonedException">The sync failed.</exception>
    public void Sync()
    {
        using (_sync.Enter())
        {
            // A sync after a failed one may succeed although bytes of both were lost: the kernel has reported that to the other caller.
            _poison.ThrowIfPoisoned();
            try
            {
                File.Sync();
            }
            catch (DiskException e)
            {
                throw Poisoned(e);
            }
        }
    }

    /// <summary>
    /// Writes a range back to the device, so that the next sync has less to do. A failure poisons the environment, like one of a sync.
    /// </summary>
    /// <returns>False where the system cannot.</returns>
    /// <exception cref="EnvironmentPoisonedException">The write-back failed.</exception>
    public bool TryWriteBack(long offset, long length)
    {
        using (_sync.Enter())
        {
            _poison.ThrowIfPoisoned();
            try
            {
                return File.TryWriteBack(offset, length);
            }
            catch (DiskException e)
            {
                throw Poisoned(e);
            }
        }
    }

    private EnvironmentPoisonedException Poisoned(DiskException failure)
    {
        _poison.Set(failure);
        return _poison.Exception(CommitOutcome.NotCommitted);
    }
}
