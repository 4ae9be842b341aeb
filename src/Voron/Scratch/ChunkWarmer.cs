using System.Diagnostics;
using Voron.Primitives;

namespace Voron.Scratch;

/// <summary>
/// Keeps a few chunks ready whose memory has been touched, while scratch memory grows: the system clears fresh memory at its first touch,
/// and that would take a twentieth of the time of a random load, in the middle of its transactions.
/// </summary>
internal sealed unsafe class ChunkWarmer : IThreadPoolWorkItem, IDisposable
{
    /// <summary>The maximum number of ready chunks: as many as a fast writer takes while the next are being made.</summary>
    private const int MaxReady = 4;

    private static readonly int MemoryPageBytes = Environment.SystemPageSize;

    private readonly int _chunkBytes;

    // Protects the ready chunks and whether more are being made. Comes before the lock of the address space of a chunk.
    private readonly Lock _lock = new();

    private readonly Stack<ScratchChunk> _ready = new(MaxReady);
    private bool _isWarming;
    private bool _isClosed;

    public ChunkWarmer(int chunkBytes) => _chunkBytes = chunkBytes;

    /// <summary>Returns a chunk that is ready, or null. Either way, more are made on another thread.</summary>
    public ScratchChunk? TryTake()
    {
        ScratchChunk? chunk;
        bool start;
        using (Uninterrupted.Hold(_lock))
        {
            _ready.TryPop(out chunk);
            start = !_isWarming && !_isClosed && _ready.Count <= MaxReady / 2;
            _isWarming |= start;
        }

        if (start)
            ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        return chunk;
    }

    /// <summary>Releases the ready chunks, until more are asked for.</summary>
    public void Trim()
    {
        using (Uninterrupted.Hold(_lock))
        {
            while (_ready.TryPop(out var chunk))
                chunk.Dispose();
        }
    }

    void IThreadPoolWorkItem.Execute()
    {
        bool goOn;
        do
        {
            var chunk = Warm();
            using (Uninterrupted.Hold(_lock))
            {
                // There is room: only one thread adds chunks at a time, and it starts and goes on only below the maximum.
                Debug.Assert(_isWarming, "One thread at a time must add chunks, from the request on until it stops.");
                Debug.Assert(_ready.Count < MaxReady, "There must be room for another chunk.");
                var isKept = chunk != null && !_isClosed;
                if (isKept)
                    _ready.Push(chunk!);
                else
                    chunk?.Dispose();
                _isWarming = goOn = isKept && _ready.Count < MaxReady;
            }
        }
        while (goOn);
    }

    public void Dispose()
    {
        using (Uninterrupted.Hold(_lock))
            _isClosed = true;
        Trim();
    }

    private ScratchChunk? Warm()
    {
        try
        {
            var chunk = ScratchChunk.Reserve(_chunkBytes);
            chunk.PreferLargePages();
            var bytes = (byte*)chunk.Address;
            for (var at = 0; at < _chunkBytes; at += MemoryPageBytes)
                Volatile.Write(ref bytes[at], 0);
            return chunk;
        }
        catch (InsufficientMemoryException)
        {
            // The caller that needs a chunk will receive the error.
            return null;
        }
    }
}
