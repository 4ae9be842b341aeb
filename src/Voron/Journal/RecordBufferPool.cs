using System.Diagnostics;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Journal;

/// <summary>A few reusable buffers for records.</summary>
/// <remarks>
/// Guarded by the lock of the journal's queue, so that a caller that waits for a buffer is woken when a batch has been acknowledged. A buffer
/// belongs to its renter until it is returned or submitted, and to the journal from then on.
/// </remarks>
internal sealed class RecordBufferPool(EngineMonitor queueLock, PoisonState poison, BlockMemory memory)
{
    /// <summary>The maximum number of buffers, and therefore of queued records.</summary>
    public const int MaxEntries = 16;

    private const int InitialEntryBytes = 64 << 10;
    private const int LargeEntryBytes = 4 << 20;

    /// <summary>A buffer that takes more than one part in this many of the memory for records is large.</summary>
    private const int PartOfMemory = 8;

    private readonly long _largeEntryBytes = Math.Clamp(memory.LimitBytes / PartOfMemory, BlockMemory.SmallBytes, LargeEntryBytes);
    private readonly Stack<RecordBuffer> _free = new(MaxEntries);
    private long _freeBytes;
    private int _count;
    private bool _isClosed;

    /// <summary>The total size in bytes of the buffers that wait for records. Read without the lock.</summary>
    public long FreeBytes => Volatile.Read(ref _freeBytes);

    /// <summary>True if the pool keeps a buffer of a size that few records need.</summary>
    public bool HasLargeBuffers
    {
        get
        {
            using (queueLock.Enter())
                return _free.Any(entry => entry.Capacity > _largeEntryBytes);
        }
    }

    /// <summary>Returns an entry to fill. Waits while too many are in use.</summary>
    /// <exception cref="EnvironmentPoisonedException">An earlier write has failed.</exception>
    public RecordBuffer Rent()
    {
        var isInterrupted = false;
        try
        {
            using (queueLock.Enter())
            {
                while (true)
                {
                    poison.ThrowIfPoisoned();
                    if (_free.TryPeek(out var entry))
                    {
                        _freeBytes -= entry.Capacity;
                        entry.Revive(InitialEntryBytes);
                        return _free.Pop();
                    }

                    if (_count < MaxEntries)
                    {
                        entry = new RecordBuffer(InitialEntryBytes, memory);
                        _count++;
                        return entry;
                    }

                    queueLock.Wait(ref isInterrupted);
                }
            }
        }
        finally
        {
            Uninterrupted.PassOn(isInterrupted);
        }
    }

    /// <summary>Takes back an entry that was not submitted.</summary>
    public void Return(RecordBuffer entry)
    {
        using (queueLock.Enter())
        {
            Keep(entry);
            queueLock.PulseAll();
        }
    }

    /// <summary>
    /// Takes back an entry whose record is finished. The caller holds the queue lock. It may be the thread that wrote the last batch, and arrive
    /// here after the environment has been closed.
    /// </summary>
    public void Keep(RecordBuffer entry)
    {
        queueLock.AssertHeld();
        Debug.Assert(_free.Count < MaxEntries, "an entry is returned once");
        entry.Attached = null;
        if (_isClosed)
        {
            entry.Dispose();
            return;
        }

        entry.Retire();
        _freeBytes += entry.Capacity;
        _free.Push(entry);
    }

    /// <summary>Frees large buffers if no record since the last call has needed more than half of them.</summary>
    public void TrimBuffers()
    {
        var large = new List<RecordBuffer>();
        using (queueLock.Enter())
        {
            foreach (var entry in _free)
            {
                // The first call after a large record still counts that record.
                if (entry.TakeNeeded() * 2 <= entry.Capacity && entry.Capacity > _largeEntryBytes)
                    large.Add(entry);
            }

            if (large.Count == 0)
                return;
            var kept = _free.Except(large).Reverse().ToArray();
            _free.Clear();
            foreach (var entry in kept)
                _free.Push(entry);
            _freeBytes = kept.Sum(entry => entry.Capacity);
        }

        // Outside the lock, because freeing a lot of memory takes time.
        foreach (var entry in large)
        {
            try
            {
                entry.Shrink(InitialEntryBytes);
            }
            catch (OutOfMemoryException)
            {
                // There is one entry fewer until there is memory for another.
                using (queueLock.Enter())
                    _count--;
                continue;
            }

            Return(entry);
        }
    }

    /// <summary>Frees the buffers; those still in use are freed when they are returned. The caller holds the queue lock.</summary>
    public void Close()
    {
        queueLock.AssertHeld();
        _isClosed = true;
        _freeBytes = 0;
        while (_free.TryPop(out var entry))
            entry.Dispose();
    }
}
