using System.Diagnostics;
using Voron.IO;
using Voron.Primitives;

namespace Voron.Scratch;

/// <summary>
/// While scratch memory grows, keeps a few chunks ready whose memory has been touched: the system clears new memory at its first touch, which
/// would take a twentieth of the time of a random load, in the middle of its transactions.
/// </summary>
internal sealed unsafe class ChunkWarmer : IThreadPoolWorkItem, IDisposable
{
    /// <summary>The maximum number of ready chunks: as many as a fast writer takes while the next are being made.</summary>
    private const int MaxReady = 4;

    private static readonly int MemoryPageBytes = Environment.SystemPageSize;

    private readonly int _chunkBytes;
    private readonly MemoryAccount? _account;

    // Protects the ready chunks and whether more are being made. Comes before the lock of the address space of a chunk.
    private readonly Lock _lock = new();

    private readonly Stack<ScratchChunk> _ready = new(MaxReady);
    private int _maxReady;
    private bool _isWarming;
    private bool _isClosed;

    /// <param name="chunkBytes">Bytes of a chunk.</param>
    /// <param name="account">Counts the memory of the ready chunks; null for none.</param>
    public ChunkWarmer(int chunkBytes, MemoryAccount? account)
    {
        _chunkBytes = chunkBytes;
        _account = account;
    }

    /// <summary>Returns a chunk that is ready, or null. Either way, more are made on another thread.</summary>
    /// <param name="room">The number of chunks, including this one, for which there is memory within the limit.</param>
    public ScratchChunk? TryTake(long room)
    {
        ScratchChunk? chunk;
        bool start;
        using (Uninterrupted.Hold(_lock))
        {
            _ready.TryPop(out chunk);
            _maxReady = (int)Math.Clamp(room - 1, 0, MaxReady);
            start = !_isWarming && !_isClosed && _ready.Count <= MaxReady / 2 && _ready.Count < _maxReady;
            _isWarming |= start;
        }

        if (chunk != null)
            _account?.Add(-_chunkBytes);
        if (start && !PoolWork.TryQueue(this))
        {
            using (Uninterrupted.Hold(_lock))
                _isWarming = false;
        }

        return chunk;
    }

    /// <summary>Releases the ready chunks, until more are requested.</summary>
    public void Trim()
    {
        using (Uninterrupted.Hold(_lock))
        {
            while (_ready.TryPop(out var chunk))
            {
                chunk.Dispose();
                _account?.Add(-_chunkBytes);
            }
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
                // There is space: only one thread adds chunks at a time, and it starts and continues only below the maximum.
                Debug.Assert(_isWarming, "One thread at a time must add chunks, from the request on until it stops.");
                Debug.Assert(_ready.Count < MaxReady, "There must be room for another chunk.");
                var isKept = chunk != null && !_isClosed && _ready.Count < _maxReady;
                if (isKept)
                {
                    _ready.Push(chunk!);
                    _account?.Add(_chunkBytes);
                }
                else
                {
                    chunk?.Dispose();
                }

                _isWarming = goOn = isKept && _ready.Count < _maxReady;
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
            var chunk = ScratchChunk.Reserve(_chunkBytes, _chunkBytes);
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
