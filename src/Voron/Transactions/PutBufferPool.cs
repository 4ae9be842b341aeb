using System.Diagnostics;
using Voron.Testing;
using Voron.Trees.Batches;

namespace Voron.Transactions;

/// <summary>
/// The buffers of the open write transaction for waiting puts. There are only a few, regardless of the number of trees written to: a tree that
/// needs one when all are in use takes over the buffer of another tree, whose puts are applied first.
/// </summary>
/// <remarks>Used by the holder of the writer.</remarks>
/// <param name="growthBytes">The number of bytes by which all buffers together may grow.</param>
internal sealed class PutBufferPool(long growthBytes)
{
    /// <summary>The number of trees usually written to together: a table and its indexes.</summary>
    private const int MaxBuffers = 16;

    private readonly List<PutBuffer> _buffers = new(MaxBuffers);
    private readonly IBufferedTree?[] _owners = new IBufferedTree?[MaxBuffers];
    private int _next;

    /// <summary>The number of bytes by which the buffers may grow further.</summary>
    public long Room
    {
        get
        {
            var room = growthBytes;
            foreach (var buffer in _buffers)
                room -= buffer.GrownBytes;
            return room;
        }
    }

    /// <summary>Returns a buffer without puts. It belongs to the tree until it is taken away, or the transaction ends.</summary>
    /// <remarks>May apply the puts of another tree, which fails as those puts would have.</remarks>
    public PutBuffer Rent(IBufferedTree tree)
    {
        var index = FindFree();
        if (index < 0)
        {
            // Buffers are taken in turn, so that each tree gathers puts for as long as the others.
            index = _next;
            _next = (_next + 1) % MaxBuffers;
            _owners[index]!.ApplyPuts();
        }

        _owners[index]?.TakeBuffer();
        Debug.Assert(_buffers[index].Count == 0, "A buffer must have no puts when it passes to another tree.");
        _owners[index] = tree;
        return _buffers[index];
    }

    /// <summary>The number of waiting puts.</summary>
    public int Count
    {
        get
        {
            var count = 0;
            foreach (var buffer in _buffers)
                count += buffer.Count;
            return count;
        }
    }

    /// <summary>Divides the waiting puts from those that follow.</summary>
    public void Mark()
    {
        foreach (var buffer in _buffers)
            buffer.Mark();
    }

    /// <summary>Applies the puts that waited at the last <see cref="Mark"/>; the others keep waiting.</summary>
    public void ApplyMarked()
    {
        for (var i = 0; i < _buffers.Count; i++)
            _owners[i]?.ApplyMarkedPuts();
    }

    /// <summary>Discards the puts added since the last <see cref="Mark"/>.</summary>
    public void DiscardUnmarked()
    {
        for (var i = 0; i < _buffers.Count && !PlantedFault.KeepPutsOfFailed; i++)
            _owners[i]?.DiscardUnmarkedPuts();
    }

    /// <summary>Applies all waiting puts.</summary>
    public void Apply()
    {
        for (var i = 0; i < _buffers.Count; i++)
            _owners[i]?.ApplyPuts();
    }

    /// <summary>Discards all waiting puts, because they are being rolled back.</summary>
    public void Discard()
    {
        for (var i = 0; i < _buffers.Count; i++)
            _owners[i]?.DiscardPuts();
    }

    /// <summary>Takes all buffers back at the end of a transaction, and discards the waiting puts.</summary>
    public void Reset()
    {
        for (var i = 0; i < _buffers.Count; i++)
        {
            _owners[i]?.TakeBuffer();
            _owners[i] = null;
            _buffers[i].Trim();
        }

        _next = 0;
    }

    // Finds a buffer without an owner, or else creates one, or else finds one without waiting puts.
    private int FindFree()
    {
        for (var i = 0; i < _buffers.Count; i++)
        {
            if (_owners[i] == null)
                return i;
        }

        if (_buffers.Count < MaxBuffers)
        {
            _buffers.Add(new PutBuffer());
            return _buffers.Count - 1;
        }

        for (var i = 0; i < MaxBuffers; i++)
        {
            if (!_owners[i]!.HasWaitingPuts || PlantedFault.ForgetWaitingPuts)
                return i;
        }

        return -1;
    }
}
