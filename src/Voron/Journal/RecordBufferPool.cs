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
    public const int MaxBuffers = 16;

    private const int InitialBufferBytes = 64 << 10;
    private const int LargeBufferBytes = 4 << 20;

    /// <summary>A buffer that takes more than one part in this many of the memory for records is large.</summary>
    private const int PartOfMemory = 8;

    private readonly long _largeBufferBytes = Math.Clamp(memory.LimitBytes / PartOfMemory, BlockMemory.SmallBytes, LargeBufferBytes);
    private readonly Stack<RecordBuffer> _free = new(MaxBuffers);
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
                return _free.Any(buffer => buffer.Capacity > _largeBufferBytes);
        }
    }

    /// <summary>Returns a buffer to fill. Waits while too many are in use.</summary>
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
                    if (_free.TryPeek(out var buffer))
                    {
                        _freeBytes -= buffer.Capacity;
                        buffer.Revive(InitialBufferBytes);
                        return _free.Pop();
                    }

                    if (_count < MaxBuffers)
                    {
                        buffer = new RecordBuffer(InitialBufferBytes, memory);
                        _count++;
                        return buffer;
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

    /// <summary>Takes back a buffer that was not submitted.</summary>
    public void Return(RecordBuffer buffer)
    {
        using (queueLock.Enter())
        {
            Keep(buffer);
            queueLock.PulseAll();
        }
    }

    /// <summary>
    /// Takes back a buffer whose record is finished. The caller holds the queue lock. It may be the thread that wrote the last batch, and arrive
    /// here after the environment has been closed.
    /// </summary>
    public void Keep(RecordBuffer buffer)
    {
        queueLock.AssertHeld();
        Debug.Assert(_free.Count < MaxBuffers, "a buffer is returned once");
        buffer.Attached = null;
        if (_isClosed)
        {
            buffer.Dispose();
            return;
        }

        buffer.Retire();
        _freeBytes += buffer.Capacity;
        _free.Push(buffer);
    }

    /// <summary>Frees large buffers if no record since the last call has needed more than half of them.</summary>
    public void TrimBuffers()
    {
        var large = new List<RecordBuffer>();
        using (queueLock.Enter())
        {
            foreach (var buffer in _free)
            {
                // The first call after a large record still counts that record.
                if (buffer.TakeNeeded() * 2 <= buffer.Capacity && buffer.Capacity > _largeBufferBytes)
                    large.Add(buffer);
            }

            if (large.Count == 0)
                return;
            var kept = _free.Except(large).Reverse().ToArray();
            _free.Clear();
            foreach (var buffer in kept)
                _free.Push(buffer);
            _freeBytes = kept.Sum(buffer => buffer.Capacity);
        }

        // Outside the lock, because freeing a lot of memory takes time.
        foreach (var buffer in large)
        {
            try
            {
                buffer.Shrink(InitialBufferBytes);
            }
            catch (OutOfMemoryException)
            {
                // There is one buffer fewer until there is memory for another.
                using (queueLock.Enter())
                    _count--;
                continue;
            }

            Return(buffer);
        }
    }

    /// <summary>Frees the buffers; those still in use are freed when they are returned. The caller holds the queue lock.</summary>
    public void Close()
    {
        queueLock.AssertHeld();
        _isClosed = true;
        _freeBytes = 0;
        while (_free.TryPop(out var buffer))
            buffer.Dispose();
    }
}
