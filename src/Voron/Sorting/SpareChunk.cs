namespace Voron.Sorting;

/// <summary>The memory into which one chunk at a time copies its sorted entries, leaving its own in exchange.</summary>
internal sealed unsafe class SpareChunk
{
    private byte* _memory;

    /// <summary>Held while the memory is used. Comes before the lock of the heap.</summary>
    public Lock Gate { get; } = new();

    /// <summary>Returns the memory, which is allocated at the first call.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public byte* Take(SortContext context)
    {
        if (_memory == null)
            _memory = context.AllocateChunk();
        return _memory;
    }

    /// <summary>Returns the memory, and keeps that of a chunk instead.</summary>
    public byte* Exchange(byte* ofChunk)
    {
        var memory = _memory;
        _memory = ofChunk;
        return memory;
    }

    /// <summary>Frees the memory, when no chunk is sorted any more.</summary>
    public void Free(SortContext context)
    {
        context.Memory.Free(_memory);
        _memory = null;
    }
}
