using Voron.IO;

namespace Voron.Sorting;

/// <summary>
/// Allocates the memory of chunks, and has a spare piece, into which one chunk at a time copies its sorted entries, leaving its own in exchange.
/// </summary>
internal sealed unsafe class ChunkMemory(NativeHeap memory, int chunkBytes)
{
    private const int LargePageBytes = 2 << 20;

    private byte* _spare;

    /// <summary>Held while the spare piece is used. Comes before the lock of the heap.</summary>
    public Lock Gate { get; } = new();

    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public byte* Allocate()
    {
        var chunk = (byte*)memory.Resize(null, (nuint)chunkBytes);
        var inPage = (nuint)chunk & ((nuint)Environment.SystemPageSize - 1);
        if (chunkBytes >= LargePageBytes)
            MemoryAdvice.PreferLargePages(chunk - inPage, (nuint)chunkBytes + inPage);
        return chunk;
    }

    /// <summary>Returns the spare piece, which is allocated at the first call.</summary>
    /// <exception cref="OutOfMemoryException">There is no memory.</exception>
    public byte* TakeSpare()
    {
        if (_spare == null)
            _spare = Allocate();
        return _spare;
    }

    /// <summary>Returns the spare piece, and keeps the memory of a chunk instead.</summary>
    public byte* Exchange(byte* ofChunk)
    {
        var spare = _spare;
        _spare = ofChunk;
        return spare;
    }

    /// <summary>Frees the spare piece, when no chunk is sorted any more.</summary>
    public void FreeSpare()
    {
        memory.Free(_spare);
        _spare = null;
    }
}
